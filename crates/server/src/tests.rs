pub(crate) mod fuzz;
#[path = "../../../tests/common/mutation.rs"]
mod mutation;
