//! Published results of reference machines, as data.
