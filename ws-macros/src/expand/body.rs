//! The nodes on one task: the body of the function, and that of a pipeline's items.
//!
//! Both run the same sections one after the other; what an item adds around each node,
//! its gates and its counters, is in [`Mode`] and in [`gate`].

use proc_macro2::TokenStream;
use syn::visit_mut::VisitMut;
use syn::{Expr, Stmt};

use super::ends::Returns;
use super::node::{self, Env};
use super::{gate, group, rt};
use crate::lower::Graph;
use crate::parse::Kind;

/// Whose body it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// The function's: what is emitted is what was written, as far as possible.
    Plain,
    /// That of an item of a pipeline, with `__program`, `__gates`, `__run` and `__item`.
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

    /// The end of a step that is alone, if what follows is not.
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

    /// Whether a step may have to wait for something.
    fn awaits(self, graph: &Graph, step: usize) -> bool {
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

    /// Whether a name is a reference already, when a step begins.
    pub(super) fn is_reference(self, graph: &Graph, value: usize, step: usize) -> bool {
        self == Self::Item && graph.is_below_flat(step) && graph.is_above_flat(value)
    }
}

/// What is emitted together.
enum Section {
    Straight(usize),
    Group(Vec<usize>),
}

/// All of it.
pub(super) fn body(graph: &Graph, mode: Mode) -> TokenStream {
    let mut code = TokenStream::new();
    let mut sections = sections(graph, mode).into_iter();
    while let Some(section) = sections.next() {
        code.extend(match section {
            Section::Straight(step) if mode == Mode::Item && graph.flat == Some(step) => {
                let below = sections
                    .by_ref()
                    .map(|section| emit_section(graph, section, mode));
                gate::flat(graph, step, &below.collect())
            }
            other => emit_section(graph, other, mode),
        });
    }
    code
}

fn emit_section(graph: &Graph, section: Section, mode: Mode) -> TokenStream {
    match section {
        Section::Straight(step) => straight(graph, step, mode),
        Section::Group(steps) => group::group(graph, &steps, mode),
    }
}

/// Cuts the steps where one waits for all since the last cut. What lies between two cuts
/// and can wait for several things at once is a group.
fn sections(graph: &Graph, mode: Mode) -> Vec<Section> {
    let mut sections = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    for &step in &graph.order {
        if open.iter().all(|&before| graph.ancestors[step][before]) {
            close(graph, mode, &mut open, &mut sections);
        }
        open.push(step);
    }
    close(graph, mode, &mut open, &mut sections);
    sections
}

fn close(graph: &Graph, mode: Mode, open: &mut Vec<usize>, sections: &mut Vec<Section>) {
    let mut steps = std::mem::take(open);
    // What does not wait and stands first needs no company.
    let first = steps
        .iter()
        .position(|&step| mode.awaits(graph, step))
        .unwrap_or(steps.len());
    sections.extend(steps.drain(..first).map(Section::Straight));
    if steps.len() > 1 {
        sections.push(Section::Group(steps));
    } else {
        sections.extend(steps.into_iter().map(Section::Straight));
    }
}

/// The inputs of a step that has everything to itself. Values that it does not own by the
/// rules it does not own here either. It may turn out not to use one: behind a `cfg`, or
/// in a macro.
pub(super) fn references(graph: &Graph, step: usize, mode: Mode) -> Vec<TokenStream> {
    let lent = node::lent(graph, step);
    let batch = graph.steps()[step].options.batch.as_ref();
    let inputs = graph.inputs_of(step).into_iter().map(|value| {
        let name = &graph.values[value].name;
        let gathered = batch.is_some_and(|batch| batch.value == *name);
        match mode {
            Mode::Item if graph.is_exclusive(value) => TokenStream::new(), // locked
            // The call of the batch has them all.
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
        (Mode::Item, Kind::Fence(_) | Kind::Tail(_)) => gate::locks(graph, step),
        (Mode::Item, Kind::Node(_)) => None, // behind its gates
        (Mode::Plain, _) => None,
    };
    let inputs = inputs.filter(|input| !input.is_empty());
    inputs.chain(locks).collect()
}

fn straight(graph: &Graph, index: usize, mode: Mode) -> TokenStream {
    let lent = node::lent(graph, index);
    let references = references(graph, index, mode);
    let output = &graph.parsed.output;
    let at = mode.at(index);
    let exit = |result: TokenStream| {
        let exit = mode.exit(graph, index, emit!(__result));
        let end = if graph.parsed.fallible() {
            emit!(__run.end_with(&__result))
        } else {
            emit!(__run.end())
        };
        emit!({ let __result: #output = #result; #end; #exit })
    };
    match (&graph.steps()[index].kind, mode) {
        (Kind::Fence(stmt), Mode::Plain) => {
            let stmt = node::stmt(graph, stmt, &lent);
            if references.is_empty() {
                emit!(#stmt)
            } else {
                emit!({ #(#references)* #stmt })
            }
        }
        (Kind::Fence(stmt), Mode::Item) => {
            let mut stmt = stmt.clone();
            Returns { exit: &exit }.visit_stmt_mut(&mut stmt);
            let stmt = node::stmt(graph, &stmt, &lent);
            // Without `;` it would be the value of the block.
            let semi = matches!(stmt, Stmt::Expr(_, None)).then(|| emit!(;));
            emit!({ #at #(#references)* #stmt #semi })
        }
        // A body without a result needs none.
        (Kind::Tail(Expr::Tuple(unit)), Mode::Plain) if unit.elems.is_empty() => TokenStream::new(),
        (Kind::Tail(expr), Mode::Plain) => {
            let expr = node::expr(graph, expr, &lent);
            emit!(#expr)
        }
        (Kind::Tail(expr), Mode::Item) => {
            let mut expr = expr.clone();
            Returns { exit: &exit }.visit_expr_mut(&mut expr);
            let expr = node::expr(graph, &expr, &lent);
            let end = exit(emit!(#expr));
            emit!({ #at #(#references)* #end })
        }
        (Kind::Node(node), _) => {
            let value = mode.value(graph, index);
            let (attrs, pat) = (&node.attrs, &node.pat);
            let ty = node.ty.as_ref().map(|ty| emit!(: #ty));
            let value = match mode {
                Mode::Plain if references.is_empty() => value,
                Mode::Plain => emit!({ #(#references)* #value }),
                Mode::Item => emit!({ #at #(#references)* let __value #ty = #value; __value }),
            };
            emit!(#(#attrs)* let #pat #ty = #value;)
        }
    }
}
