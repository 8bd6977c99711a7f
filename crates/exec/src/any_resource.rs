//! All kinds of resources.

use crate::cgroup::Group;
use crate::load::LoadTag;
use crate::resource::{Directory, Resource};
use crate::scratch_fs::Volume;
use crate::settings::Setting;
use crate::swap::Swap;
use crate::tracefs::Trace;
use crate::undo_command::Command;
use crate::work_tree::WorkTree;
use serde::{Deserialize, Serialize};

macro_rules! resources {
    ($($kind:ident: $resource:ty),*) => {
        /// A resource, as recorded in journals.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub(crate) enum AnyResource {
            $($kind($resource)),*
        }

        impl AnyResource {
            pub(crate) fn as_resource(&self) -> &dyn Resource {
                match self {
                    $(Self::$kind(it) => it),*
                }
            }
        }

        $(impl From<$resource> for AnyResource {
            fn from(resource: $resource) -> Self {
                Self::$kind(resource)
            }
        })*
    };
}

resources!(
    Directory: Directory,
    Group: Group,
    Load: LoadTag,
    Trace: Trace,
    Volume: Volume,
    Swap: Swap,
    Setting: Setting,
    Command: Command,
    WorkTree: WorkTree
);
