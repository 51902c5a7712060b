//! The options of a node: `#[node(retry(3), timeout = "800ms", …)]`.

use proc_macro2::{Span, TokenStream};
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Attribute, Expr, ExprLit, Ident, Lit, LitStr, Meta, Token};

use crate::duration;
use crate::entry::{Entry, EntryValue, usage};
use crate::errors::Errors;
use crate::gates::{self, Batch, Flat, Key, Queue, Rate};
use crate::similar::nearest;

/// Every option, for the message about an unknown one.
const KNOWN: [&str; 15] = [
    "retry", "timeout", "fallback", "after", "limit", "rate", "queue", "batch", "key", "flat",
    "blocking", "inline", "spawn", "graph", "name",
];

#[derive(Default)]
pub(crate) struct Options {
    pub(crate) retry: Option<Retry>,
    pub(crate) timeout: Option<Timeout>,
    pub(crate) fallback: Option<Expr>,
    pub(crate) after: Vec<Ident>,
    pub(crate) limit: Option<Expr>,
    pub(crate) rate: Option<Rate>,
    pub(crate) queue: Option<Queue>,
    pub(crate) batch: Option<Batch>,
    pub(crate) key: Option<Key>,
    pub(crate) flat: Option<Flat>,
    pub(crate) blocking: Option<Span>,
    pub(crate) inline: Option<Span>,
    pub(crate) spawn: Option<Span>,
    pub(crate) graph: Option<Span>,
    pub(crate) name: Option<LitStr>,
    /// The options have an error, so a missing option means nothing.
    pub(crate) broken: bool,
}

pub(crate) struct Retry {
    pub(crate) span: Span,
    pub(crate) retries: Expr,
    /// The first and the longest pause.
    pub(crate) backoff: Option<(Expr, Expr)>,
    pub(crate) when: Option<Expr>,
}

pub(crate) struct Timeout {
    pub(crate) span: Span,
    pub(crate) duration: Expr,
}

impl Options {
    /// Whether the node is run in attempts.
    pub(crate) fn attempts(&self) -> bool {
        self.retry.is_some() || self.timeout.is_some() || self.fallback.is_some()
    }

    /// The expressions that use values of the graph like the node itself, except `when`.
    pub(crate) fn values(&self) -> impl Iterator<Item = &Expr> {
        let retry = self.retry.as_ref();
        // A back-off that is not a literal stands in both places.
        let pause = retry.and_then(|retry| retry.backoff.as_ref().map(|(first, _)| first));
        let timeout = self.timeout.as_ref().map(|timeout| &timeout.duration);
        let fallback = self.fallback.as_ref();
        let key = self.key.as_ref().map(|key| &key.expr);
        let retries = retry.map(|retry| &retry.retries);
        retries
            .into_iter()
            .chain(pause)
            .chain(timeout)
            .chain(fallback)
            .chain(key)
    }

    /// The function that decides, for an error, whether the node is retried.
    pub(crate) fn when(&self) -> Option<&Expr> {
        self.retry.as_ref()?.when.as_ref()
    }

    /// Whether a node of a pipeline may have to wait before it begins.
    pub(crate) fn gated(&self) -> bool {
        self.limit.is_some()
            || self.rate.is_some()
            || self.queue.is_some()
            || self.batch.is_some()
            || self.key.is_some()
    }

    /// Takes `#[node(…)]` out of the attributes of a statement.
    pub(crate) fn take(attrs: &mut Vec<Attribute>, errors: &mut Errors) -> Option<Self> {
        let mut options = None;
        let mut seen = Vec::new();
        attrs.retain(|attr| {
            if !attr.path().is_ident("node") {
                return true;
            }
            let options: &mut Self = options.get_or_insert_with(Self::default);
            match &attr.meta {
                Meta::Path(_) => {}
                Meta::List(list) => {
                    let mut own = Errors::default();
                    options.read(list.tokens.clone(), &mut seen, &mut own);
                    options.broken |= !own.is_empty();
                    errors.append(own);
                }
                Meta::NameValue(meta) => {
                    errors.at(
                        meta,
                        "options of a node are a list: `#[node(timeout = \"1s\")]`",
                    );
                }
            }
            false
        });
        options
    }

    fn read(&mut self, tokens: TokenStream, seen: &mut Vec<Ident>, errors: &mut Errors) {
        let parser = Punctuated::<Entry, Token![,]>::parse_terminated;
        match parser.parse2(tokens) {
            Ok(entries) => {
                for entry in entries {
                    if seen.contains(&entry.name) {
                        errors.at(&entry.name, format!("`{}` is given twice", entry.name));
                        continue;
                    }
                    seen.push(entry.name.clone());
                    self.entry(entry, errors);
                }
            }
            Err(error) => errors.push(error),
        }
    }

    fn entry(&mut self, entry: Entry, errors: &mut Errors) {
        let name = entry.name.to_string();
        let span = entry.name.span();
        match (name.as_str(), entry.value) {
            ("retry", EntryValue::List(list)) => self.retry = retry(span, list, errors),
            ("timeout", EntryValue::Is(value)) => {
                let duration = duration::duration(&value, errors);
                self.timeout = Some(Timeout { span, duration });
            }
            ("fallback", EntryValue::Is(value)) => self.fallback = Some(value),
            ("after", EntryValue::List(list)) => self.after = after(list, errors),
            ("limit", EntryValue::Is(value)) => {
                let zero = "a limit of 0 would let no run past this node: write at least 1";
                self.limit = gates::not_zero(value, zero, errors);
            }
            ("rate", EntryValue::Is(value)) => self.rate = gates::rate(span, &value, errors),
            ("queue", EntryValue::Is(value)) => self.queue = gates::queue(span, value, errors),
            ("batch", EntryValue::List(list)) => self.batch = gates::batch(span, list, errors),
            ("key", EntryValue::Is(expr)) => self.key = Some(Key { span, expr }),
            ("flat", EntryValue::Flag) => {
                self.flat = Some(Flat {
                    span,
                    at_once: None,
                })
            }
            ("flat", EntryValue::Is(value)) => {
                let zero = "0 elements at a time would never end: write at least 1";
                let at_once = gates::not_zero(value, zero, errors);
                self.flat = Some(Flat { span, at_once });
            }
            ("blocking", EntryValue::Flag) => self.blocking = Some(span),
            ("inline", EntryValue::Flag) => self.inline = Some(span),
            ("spawn", EntryValue::Flag) => self.spawn = Some(span),
            ("graph", EntryValue::Flag) => self.graph = Some(span),
            (
                "name",
                EntryValue::Is(Expr::Lit(ExprLit {
                    lit: Lit::Str(text),
                    ..
                })),
            ) => {
                self.name = Some(text);
            }
            (known, _) if KNOWN.contains(&known) => {
                errors.at(&entry.name, format!("write `{}`", usage(known)));
            }
            (unknown, _) => {
                let help = match nearest(unknown, KNOWN) {
                    Some(name) => format!("did you mean `{name}`?"),
                    None => format!("the options are {}", KNOWN.join(", ")),
                };
                errors.at(
                    &entry.name,
                    format!("there is no option `{unknown}`\nhelp: {help}"),
                );
            }
        }
    }
}

fn retry(span: Span, list: TokenStream, errors: &mut Errors) -> Option<Retry> {
    let parser = |input: ParseStream<'_>| -> syn::Result<(Expr, Vec<Entry>)> {
        let retries = input.parse()?;
        let mut entries = Vec::new();
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if !input.is_empty() {
                entries.push(input.parse()?);
            }
        }
        Ok((retries, entries))
    };
    let (retries, entries) = match parser.parse2(list) {
        Ok(parsed) => parsed,
        Err(_) => {
            errors.span(span, format!("write `{}`", usage("retry")));
            return None;
        }
    };
    let mut retry = Retry {
        span,
        retries,
        backoff: None,
        when: None,
    };
    for entry in entries {
        match (entry.name.to_string().as_str(), entry.value) {
            ("backoff", EntryValue::Is(value)) => {
                retry.backoff = Some(duration::range(&value, errors))
            }
            ("when", EntryValue::Is(value)) => retry.when = Some(value),
            (other, _) => {
                let help = match nearest(other, ["backoff", "when"]) {
                    Some(name) => format!("did you mean `{name}`?"),
                    None => format!("write `{}`", usage("retry")),
                };
                errors.at(
                    &entry.name,
                    format!("`retry` has no `{other}`\nhelp: {help}"),
                );
            }
        }
    }
    Some(retry)
}

fn after(list: TokenStream, errors: &mut Errors) -> Vec<Ident> {
    let parser = Punctuated::<Ident, Token![,]>::parse_terminated;
    match parser.parse2(list) {
        Ok(names) => names.into_iter().collect(),
        Err(error) => {
            errors.span(
                error.span(),
                format!("write `{}`: names of nodes", usage("after")),
            );
            Vec::new()
        }
    }
}
