//! The kind of body that is emitted, and what it adds around each step.

use proc_macro2::TokenStream;

use super::emit::rt;
use super::gate;
use super::lend::lent;
use super::locks::locks;
use super::node::{self, Env};
use crate::lower::Graph;
use crate::parse::Kind;

/// The kind of body.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// The body of the function: as it was written, as far as possible.
    Plain,
    /// The body for an item of a pipeline, with `__program`, `__gates`, `__run` and `__item`.
    Item,
}

impl Mode {
    /// The beginning of a step that is alone.
    pub(super) fn at(self, step: usize) -> TokenStream {
        match self {
            Self::Plain => TokenStream::new(),
            Self::Item => emit!(__run.at(#step);),
        }
    }

    /// The end of a step that is alone, if the next steps are a group.
    pub(super) fn leave(self) -> TokenStream {
        match self {
            Self::Plain => TokenStream::new(),
            Self::Item => emit!(__run.leave();),
        }
    }

    /// The beginning of a step of a group.
    pub(super) fn enter(self, step: usize) -> TokenStream {
        match self {
            Self::Plain => TokenStream::new(),
            Self::Item => emit!(let __inside = __run.enter(#step);),
        }
    }

    /// The end of a step of a group.
    pub(super) fn done(self) -> TokenStream {
        match self {
            Self::Plain => TokenStream::new(),
            Self::Item => emit!(__inside.done();),
        }
    }

    /// The value of a node.
    pub(super) fn value(self, graph: &Graph, step: usize) -> TokenStream {
        match self {
            Self::Plain => node::value(graph, step, &Env::plain(graph)),
            Self::Item => gate::value(graph, step),
        }
    }

    /// What the body returns when a step ends it with `result`.
    pub(super) fn exit(self, graph: &Graph, step: usize, result: TokenStream) -> TokenStream {
        let rt = rt(&graph.parsed);
        let output = &graph.parsed.output;
        match (self, graph.flat) {
            (Self::Item, Some(flat)) if step <= flat && graph.parsed.fallible() => {
                emit!(#rt::one::<#output>(#result))
            }
            (Self::Item, Some(flat)) if step <= flat => emit!(::std::vec![#result]),
            _ => result,
        }
    }

    /// Whether a step may have to wait.
    pub(super) fn awaits(self, graph: &Graph, step: usize) -> bool {
        let exclusive = || {
            let inputs = graph.inputs_of(step);
            inputs.into_iter().any(|value| graph.is_exclusive(value))
        };
        let step = &graph.steps()[step];
        let options = &step.options;
        step.traits.awaits
            || !step.traits.skips.is_empty()
            || options.attempts()
            || (self == Self::Item
                && (options.gated() || options.blocking.is_some() || exclusive()))
    }

    /// Whether a name is a reference already when a step begins.
    pub(super) fn is_reference(self, graph: &Graph, value: usize, step: usize) -> bool {
        self == Self::Item && graph.is_below_flat(step) && graph.is_above_flat(value)
    }
}

/// The inputs of a step that runs alone. It owns only the values that it owns by the rules. It
/// may not use an input after all: behind a `cfg`, or in a macro.
pub(super) fn references(graph: &Graph, step: usize, mode: Mode) -> Vec<TokenStream> {
    let lent = lent(graph, step);
    let batch = graph.steps()[step].options.batch.as_ref();
    let inputs = graph.inputs_of(step).into_iter().map(|value| {
        let name = &graph.values[value].name;
        let gathered = batch.is_some_and(|batch| batch.value == *name);
        match mode {
            Mode::Item if graph.is_exclusive(value) => TokenStream::new(), // Locked.
            // The call of the batch has the values of all items.
            Mode::Item if gathered => TokenStream::new(),
            _ if mode.is_reference(graph, value, step) => TokenStream::new(),
            _ if lent.contains(name) => {
                let alone = node::alone(graph, step, value, emit!(#name));
                emit!(#[allow(unused_variables)] let #name = &#alone;)
            }
            _ if gathered => {
                let alone = node::alone(graph, step, value, emit!(#name));
                emit!(#[allow(unused_variables)] let #name = #alone;)
            }
            _ => TokenStream::new(),
        }
    });
    let locks = match (mode, &graph.steps()[step].kind) {
        (Mode::Item, Kind::Fence(_) | Kind::Tail(_)) => locks(graph, step),
        (Mode::Item, Kind::Node(_)) => None, // Behind its gates.
        (Mode::Plain, _) => None,
    };
    let inputs = inputs.filter(|input| !input.is_empty());
    inputs.chain(locks).collect()
}
