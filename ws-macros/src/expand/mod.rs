//! From the graph to code.
//!
//! One function becomes two things. The first is the function itself, whose body runs the nodes
//! on the calling task ([`plain`]). The second is a module of the same name with everything
//! else: runs on an executor ([`parallel`]), runs for the items of a stream ([`item`]), the
//! description ([`describe`]). A graph that only a pipeline can run has no function.
//!
//! Neither contains unsafe code. Names that the user does not see begin with `__`, and have
//! spans that separate them from the user's names.

#[macro_use]
mod emit;

mod body;
pub(crate) mod describe;
mod ends;
mod flat;
mod gate;
mod group;
mod item;
mod lend;
mod locks;
mod mode;
mod node;
pub(crate) mod parallel;
pub(crate) mod plain;

pub(crate) use item::unbindable;

use proc_macro2::TokenStream;

use self::emit::quiet;
use crate::errors::Errors;
use crate::lower::Graph;

/// Expands a valid graph.
pub(crate) fn expand(graph: &Graph) -> TokenStream {
    if graph.parsed.args.local {
        let function = plain::function(graph);
        let module = describe::module(graph, &TokenStream::new());
        return emit!(#function #module);
    }
    let (bind, program) = item::all(graph);
    if graph.needs_stream() {
        let module = describe::module(graph, &bind);
        return emit!(#module #program);
    }
    let function = plain::function(graph);
    let parallel = parallel::all(graph, &bind);
    emit!(#function #parallel #program)
}

/// The code beside errors: the function as written, and the module with its signatures. So uses
/// of the two cause no further errors.
pub(crate) fn stub(graph: &Graph, errors: &Errors) -> TokenStream {
    let parsed = &graph.parsed;
    let mut function = parsed.plain.clone();
    // Without `async` the body cannot await; that error is reported already.
    if function.sig.asyncness.is_none() {
        function.sig.asyncness = Some(Default::default());
    }
    if errors.hide_body {
        *function.block = syn::parse_quote!({ ::core::unreachable!() });
    }
    let lints = quiet();
    let module = if parsed.args.local || errors.hide_module {
        TokenStream::new()
    } else {
        parallel::stub(graph, errors)
    };
    emit!(#lints #function #module)
}
