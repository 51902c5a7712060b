//! What a macro sees of a value that is lent.
//!
//! Nobody knows what a macro does with a name: it may be an expression to it, the name of
//! a field, or text. So `#[task_graph]` leaves the name as it is, and binds it to what can
//! go for the value: a copy if it is `Copy`, or else a reference.
//!
//! Which of these it is, the compiler decides when it looks for the method `seen`: that of
//! [`Seen`] if it may be called, and otherwise that of [`Behind`], which it dereferences to.

use std::ops::Deref;

/// A value that is lent to a macro.
#[derive(Debug)]
pub struct Seen<'a, T>(Behind<'a, T>);

/// One that cannot be copied.
#[derive(Debug)]
pub struct Behind<'a, T>(&'a T);

impl<'a, T> Seen<'a, T> {
    /// What `value` lends.
    pub fn new(value: &'a T) -> Self {
        Self(Behind(value))
    }
}

impl<T: Copy> Seen<'_, T> {
    /// A copy.
    pub fn seen(&self) -> T {
        *self.0.0
    }
}

impl<'a, T> Behind<'a, T> {
    /// The reference.
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
