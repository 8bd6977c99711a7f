//! From a run or a comparison to a document, and its renderings.
