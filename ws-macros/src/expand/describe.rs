//! The graph as data, and as a picture in the function's documentation.

use proc_macro2::TokenStream;
use quote::{format_ident, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Ident, Path, PathArguments};

use super::emit::quiet;
use crate::draw;
use crate::lower::Graph;
use crate::parse::{Kind, called};

/// The picture, as documentation attributes.
pub(super) fn drawing(graph: &Graph) -> Vec<Attribute> {
    let picture = format!("<div>{}</div>", draw::svg(graph));
    vec![
        syn::parse_quote!(#[doc = ""]),
        syn::parse_quote!(#[doc = "# Graph"]),
        syn::parse_quote!(#[doc = ""]),
        syn::parse_quote!(#[doc = #picture]),
    ]
}

/// The graphs that nodes with the option `graph` call. They are named beside the module, where
/// a path has the same meaning as in the function.
fn callees(graph: &Graph) -> TokenStream {
    let (krate, name) = (&graph.parsed.args.krate, &graph.parsed.plain.sig.ident);
    let quiet = quiet();
    let callees: Vec<TokenStream> = (0..graph.steps().len())
        .filter_map(|step| {
            let path = callee(graph, step)?;
            let constant = constant(step);
            let described = quote_spanned!(path.span()=> #path::GRAPH);
            Some(emit!(const #constant: &'static #krate::graph::Graph = &#described;))
        })
        .collect();
    if callees.is_empty() {
        return TokenStream::new();
    }
    emit!(#quiet impl #name::__Callees { #(#callees)* })
}

/// The graph that a step calls, without type arguments: it is a function and a module.
fn callee(graph: &Graph, step: usize) -> Option<Path> {
    let step = &graph.steps()[step];
    match &step.kind {
        Kind::Node(node) if step.options.graph.is_some() => called(&node.expr).map(module_path),
        _ => None,
    }
}

/// The module of the graph with this path.
pub(super) fn module_path(path: &Path) -> Path {
    let mut path = path.clone();
    for segment in &mut path.segments {
        segment.arguments = PathArguments::None;
    }
    path
}

fn constant(step: usize) -> Ident {
    format_ident!("CALLEE_{step}")
}

/// The module beside the function.
pub(super) fn module(graph: &Graph, rest: &TokenStream) -> TokenStream {
    let (vis, name) = (&graph.parsed.plain.vis, &graph.parsed.plain.sig.ident);
    let quiet = quiet();
    let description = description(graph);
    let callees = callees(graph);
    let docs = if graph.needs_stream() {
        // Without a function, the module has its documentation.
        let attrs = &graph.parsed.plain.attrs;
        let written = attrs.iter().filter(|attr| {
            ["doc", "cfg", "deprecated"]
                .iter()
                .any(|name| attr.path().is_ident(name))
        });
        written.cloned().chain(drawing(graph)).collect()
    } else {
        let doc = format!(
            "What else there is of the graph [`{0}`](fn@{0}).",
            name.unraw()
        );
        vec![syn::parse_quote!(#[doc = #doc])]
    };
    emit! {
        #(#docs)*
        #quiet
        #vis mod #name {
            #description
            #rest
        }
        #callees
    }
}

fn description(graph: &Graph) -> TokenStream {
    let krate = &graph.parsed.args.krate;
    let path = emit!(#krate::graph);
    let name = graph.parsed.plain.sig.ident.unraw().to_string();
    let doc = if graph.needs_stream() {
        "The shape of the graph.".to_owned()
    } else {
        format!("The shape of [`{name}`](fn@super::{name}).")
    };
    let calls = (0..graph.steps().len()).any(|step| callee(graph, step).is_some());
    let callees = calls.then(|| {
        emit!(
            #[doc(hidden)]
            #[derive(Debug)]
            pub struct __Callees;
        )
    });
    let nodes = graph.steps().iter().enumerate().map(|(index, step)| {
        let name = &step.name;
        let kind = match &step.kind {
            Kind::Node(_) => emit!(Let),
            Kind::Fence(_) => emit!(Fence),
            Kind::Tail(_) => emit!(Output),
        };
        let sub = match callee(graph, index) {
            Some(_) => {
                let constant = constant(index);
                emit!(::core::option::Option::Some(__Callees::#constant))
            }
            None => emit!(::core::option::Option::None),
        };
        emit!(#path::Node::new(#name, #path::NodeKind::#kind, #sub))
    });
    let edges = (0..graph.steps().len()).flat_map(|to| {
        let to_number = u32::try_from(to).unwrap_or(u32::MAX);
        graph.nearest_needs(to).into_iter().map(move |from| {
            let from = u32::try_from(from).unwrap_or(u32::MAX);
            emit!((#from, #to_number))
        })
    });
    let svg = draw::svg(graph);
    emit! {
        #callees
        #[doc = #doc]
        pub static GRAPH: #path::Graph =
            #path::Graph::new(#name, &[#(#nodes),*], &[#(#edges),*], #svg);
    }
}
