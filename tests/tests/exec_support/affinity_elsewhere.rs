//! Where threads cannot be pinned: one core that is not used.

/// No choice.
pub(crate) fn cores() -> Vec<usize> {
    vec![0]
}

/// Does nothing.
pub(crate) fn pin_to(_core: usize) {}
