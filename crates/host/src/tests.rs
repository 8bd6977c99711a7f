//! Recorded, fake and live machines.

mod doctor;
mod facts;
mod live;
mod tree;
mod tunables;
mod watch;
