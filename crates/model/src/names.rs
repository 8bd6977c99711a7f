//! Enums whose values have names in JSON.

/// Defines an enum with these names, `as_str` for them, and `ALL` values in the order of the definition.
macro_rules! names {
    ($(#[$of_enum:meta])* pub enum $enum:ident { $($(#[$of_value:meta])* $value:ident = $name:literal,)+ }) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        $(#[$of_enum])*
        pub enum $enum {
            $($(#[$of_value])* #[serde(rename = $name)] $value,)+
        }

        impl $enum {
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$value),+];

            /// Its name in JSON.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$value => $name,)+
                }
            }
        }
    };
}
pub(crate) use names;
