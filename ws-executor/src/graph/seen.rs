//! How a macro sees a shared value.
//!
//! A name in the input of an unknown macro may be an expression, the name of a field, or text.
//! So `#[task_graph]` leaves the name as it is, and binds it to a replacement of the value: a
//! copy if the value is `Copy`, or else a reference.
//!
//! The compiler decides between the two when it looks up the method `seen`: it takes that of
//! [`Seen`] if its bound holds, and otherwise that of [`Behind`], to which `Seen` dereferences.

use std::ops::Deref;

/// A shared value in the input of a macro.
#[derive(Debug)]
pub struct Seen<'a, T>(Behind<'a, T>);

/// A shared value that is not `Copy`.
#[derive(Debug)]
pub struct Behind<'a, T>(&'a T);

impl<'a, T> Seen<'a, T> {
    /// Wraps a reference to the value.
    pub fn new(value: &'a T) -> Self {
        Self(Behind(value))
    }
}

impl<T: Copy> Seen<'_, T> {
    /// Copies the value.
    pub fn seen(&self) -> T {
        *self.0.0
    }
}

impl<'a, T> Behind<'a, T> {
    /// Returns the reference.
    pub fn seen(&self) -> &'a T {
        self.0
    }
}

impl<'a, T> Deref for Seen<'a, T> {
    type Target = Behind<'a, T>;

    fn deref(&self) -> &Behind<'a, T> {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Seen;

    #[test]
    fn copies_are_values_and_the_rest_are_references() {
        let (number, text) = (3_u8, String::from("text"));
        let copy: u8 = Seen::new(&number).seen();
        let lent: &String = Seen::new(&text).seen();
        assert_eq!((copy, lent), (3, &text));
    }
}
