//! What this machine is, and whether it is fit to be measured.
