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

/// A resource, as recorded in journals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum AnyResource {
    Directory(Directory),
    Group(Group),
    Load(LoadTag),
    Trace(Trace),
    Volume(Volume),
    Swap(Swap),
    Setting(Setting),
    Command(Command),
    WorkTree(WorkTree),
}

impl AnyResource {
    pub(crate) fn as_resource(&self) -> &dyn Resource {
        match self {
            Self::Directory(it) => it,
            Self::Group(it) => it,
            Self::Load(it) => it,
            Self::Trace(it) => it,
            Self::Volume(it) => it,
            Self::Swap(it) => it,
            Self::Setting(it) => it,
            Self::Command(it) => it,
            Self::WorkTree(it) => it,
        }
    }
}

macro_rules! from {
    ($($kind:ident: $resource:ty),*) => {
        $(impl From<$resource> for AnyResource {
            fn from(resource: $resource) -> Self {
                Self::$kind(resource)
            }
        })*
    };
}

from!(
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
