//! Figures for programs: just enough JSON, and where it goes.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::output;

/// A JSON value; its `Display` is its text.
///
/// ```
/// use benches::json::Value;
/// let value = Value::object([
///     ("name", Value::from("a \"pop\"")),
///     ("ns", Value::from(vec![Value::from(1.5), Value::from(f64::NAN)])),
/// ]);
/// assert_eq!(value.to_string(), r#"{"name": "a \"pop\"", "ns": [1.5, null]}"#);
/// ```
#[derive(Clone, Debug)]
pub enum Value {
    /// A truth value.
    Bool(bool),
    /// A number; `null` if it is not finite.
    Number(f64),
    /// A string.
    Text(String),
    /// An array.
    Array(Vec<Value>),
    /// An object, in the order given.
    Object(Vec<(&'static str, Value)>),
}

impl Value {
    /// Makes an object of its members.
    pub fn object(members: impl IntoIterator<Item = (&'static str, Value)>) -> Self {
        Value::Object(members.into_iter().collect())
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Value::Bool(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Value::Number(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Value::Text(value.into())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Value::Text(value)
    }
}

impl From<Vec<Value>> for Value {
    fn from(value: Vec<Value>) -> Self {
        Value::Array(value)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(value) => write!(f, "{value}"),
            Value::Number(value) if value.is_finite() => write!(f, "{value}"),
            Value::Number(_) => f.write_str("null"),
            Value::Text(text) => quote(f, text),
            Value::Array(values) => {
                f.write_str("[")?;
                for (index, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", separator(index))?;
                }
                f.write_str("]")
            }
            Value::Object(members) => {
                f.write_str("{")?;
                for (index, (name, value)) in members.iter().enumerate() {
                    f.write_str(separator(index))?;
                    quote(f, name)?;
                    write!(f, ": {value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

fn separator(index: usize) -> &'static str {
    if index == 0 { "" } else { ", " }
}

fn quote(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("\"")?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{c}")?,
            c if c.is_control() => write!(f, "\\u{:04x}", c as u32)?,
            c => write!(f, "{c}")?,
        }
    }
    f.write_str("\"")
}

/// Writes `value` to `bench/NAME.json` in the target directory, and returns
/// where that is.
///
/// # Errors
///
/// If the file cannot be written.
pub fn save(name: &str, value: &Value) -> io::Result<PathBuf> {
    output::write(&format!("{name}.json"), &format!("{value}\n"))
}
