//! The environment of a node's code: in the function, in a parallel run, in a pipeline.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident};
use syn::{Expr, Ident, Pat};

use crate::expand::emit::rt;
use crate::expand::locks::locks;
use crate::expand::parallel::signature::unspeakable;
use crate::lower::Graph;
use crate::parse::{Kind, Node};

/// The environment of a node's code.
pub(in crate::expand) struct Env {
    pub(super) site: TokenStream,
    /// The gates that an attempt must pass, and whether it must also get a permit of the next
    /// node's queue.
    pub(super) pass: Option<TokenStream>,
    pub(super) leaves: bool,
    /// The locks that an attempt takes after its gates: an item that waits at a gate must not
    /// block others.
    pub(super) locks: Option<TokenStream>,
    /// A batch has one item, and one answer.
    pub(super) single: bool,
    /// The scripted outcome of this node, if a test may set one: its type is written.
    pub(super) scripted: Option<TokenStream>,
    /// Graphs that are called with the option `graph` run on the executor of this run.
    pub(super) sub_runs: bool,
}

impl Env {
    /// In the function itself.
    pub(in crate::expand) fn plain(graph: &Graph) -> Self {
        let rt = rt(&graph.parsed);
        Self {
            site: emit!(#rt::Site::plain()),
            pass: None,
            leaves: false,
            locks: None,
            single: true,
            scripted: None,
            sub_runs: false,
        }
    }

    /// In a parallel run.
    pub(in crate::expand) fn parallel(
        graph: &Graph,
        index: usize,
        pass: Option<TokenStream>,
    ) -> Self {
        let scripted = match &graph.steps()[index].kind {
            Kind::Node(Node {
                ty: Some(ty),
                pat: Pat::Ident(_),
                ..
            }) if unspeakable(&graph.parsed, ty).is_none() => {
                Some(emit!(__ctx.scripted::<#ty>(#index)))
            }
            _ => None,
        };
        Self {
            site: emit!(__ctx.site(#index)),
            pass,
            leaves: false,
            locks: None,
            single: true,
            scripted,
            sub_runs: true,
        }
    }

    /// In a pipeline.
    pub(in crate::expand) fn item(graph: &Graph, index: usize) -> Self {
        let options = &graph.steps()[index].options;
        let next = graph.queues_after(index).next();
        let mut pass = emit!(__gates.pass(#index));
        if options.queue.is_some() {
            let place = place(index);
            pass = emit!(#pass.from(&#place));
        }
        if let Some(next) = next {
            let place = place(next);
            pass = emit!(#pass.then(__gates.queue(#next), &#place));
        }
        let passes = options.limit.is_some()
            || options.rate.is_some()
            || options.queue.is_some()
            || next.is_some();
        Self {
            site: emit!(__gates.site(#index)),
            pass: passes.then_some(pass),
            leaves: next.is_some(),
            locks: locks(graph, index),
            single: false,
            scripted: None,
            sub_runs: false,
        }
    }

    /// As `self`, for code that runs elsewhere: the gates, and the rest.
    pub(in crate::expand) fn split(mut self) -> (Option<TokenStream>, Self) {
        (self.pass.take(), self)
    }

    /// `code`, with its locks.
    pub(super) fn locked(&self, code: TokenStream) -> TokenStream {
        match &self.locks {
            Some(locks) => emit!({ #locks let __locked = #code; __locked }),
            None => code,
        }
    }

    /// `code`, or the scripted outcome, which `how` converts.
    pub(super) fn unless_scripted(&self, code: TokenStream, how: &TokenStream) -> TokenStream {
        match &self.scripted {
            // The code comes first: it tells the compiler the error type of the node.
            Some(scripted) => emit! {
                match #scripted {
                    ::core::option::Option::None => #code,
                    ::core::option::Option::Some(__scripted) => #how,
                }
            },
            None => code,
        }
    }
}

/// The slot of the permit for the queue before a node with `queue`.
pub(in crate::expand) fn place(node: usize) -> Ident {
    format_ident!("__place_{node}", span = Span::mixed_site())
}

/// The code of a node. For a batch, the answers for all items, or for its one item.
pub(super) fn answer(graph: &Graph, index: usize, env: &Env, code: Expr) -> TokenStream {
    if graph.steps()[index].options.batch.is_none() {
        return code.into_token_stream();
    }
    let rt = rt(&graph.parsed);
    let answers = emit!(#rt::answers(#code));
    if env.single {
        emit!(#rt::single(#answers))
    } else {
        answers
    }
}

/// The type of a node's code, if it is written. The code is assigned to this type, as in plain
/// Rust, so that it is coerced.
pub(super) fn written_type(graph: &Graph, index: usize, env: &Env) -> Option<TokenStream> {
    let step = &graph.steps()[index];
    match &step.kind {
        // The code of a batch makes a list of such values.
        Kind::Node(_) if !env.single && step.options.batch.is_some() => None,
        Kind::Node(node) => node.ty.as_ref().map(|ty| emit!(: #ty)),
        Kind::Fence(_) | Kind::Tail(_) => None,
    }
}
