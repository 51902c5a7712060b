//! The runs on an executor.
//!
//! | file | what |
//! |---|---|
//! | `signature` | the parameters of every run: the inputs, owned |
//! | `plan` | the shape of a run, as a constant |
//! | `start` | the code of all nodes, in one function that all runs share |
//! | `run` | `run` for the whole graph, and `until_x` for a part of it |
//! | `test` | `test`, a run with made-up outcomes |

mod plan;
mod run;
pub(super) mod signature;
mod start;
mod test;

use std::collections::HashSet;

use proc_macro2::TokenStream;
use quote::format_ident;
use syn::Ident;
use syn::ext::IdentExt;

use self::signature::Signature;
use super::describe;
use super::emit::{quiet, rt};
use crate::errors::Errors;
use crate::lower::Graph;
use crate::parse::Parsed;

/// The module, with `bind` in it, and the methods of its `On`.
pub(super) fn all(graph: &Graph, bind: &TokenStream) -> TokenStream {
    let parsed = &graph.parsed;
    let on = on(parsed, !graph.limited().is_empty());
    let module = describe::module(graph, &emit!(#on #bind));
    let start = start::start(graph);
    let run = run::run(graph);
    let untils = run::public(graph)
        .into_iter()
        .map(|value| run::until(graph, value));
    let methods = emit!(#start #run #(#untils)*);
    let methods = implementation(parsed, &methods);
    let (traps, trapped) = (0..graph.values.len())
        .filter_map(|value| run::trap(graph, value))
        .unzip::<_, _, Vec<_>, Vec<_>>();
    let trapped = implementation(parsed, &emit!(#(#trapped)*));
    let test = test::test(graph);
    emit!(#module #methods #(#traps)* #trapped #test)
}

/// The module and its methods, without bodies.
pub(super) fn stub(graph: &Graph, errors: &Errors) -> TokenStream {
    let parsed = &graph.parsed;
    let (vis, name) = (&parsed.plain.vis, &parsed.plain.sig.ident);
    let Signature {
        generics, params, ..
    } = Signature::new(parsed);
    let (impl_generics, _, clause) = generics.split_for_impl();
    let output = &parsed.output;
    let (quiet, rt, krate) = (quiet(), rt(parsed), &parsed.args.krate);
    let on = on(parsed, false);
    let method = |method: &Ident, output: &TokenStream| {
        emit! {
            #[doc(hidden)]
            pub fn #method #impl_generics (self, #params) -> impl ::core::future::Future<Output = #output> #clause {
                async { ::core::unreachable!() }
            }
        }
    };
    let methods = if errors.hide_run {
        TokenStream::new()
    } else {
        let run = format_ident!("run");
        let test_run = method(&run, &emit!(#krate::graph::testing::Report<#output>));
        let run = method(&run, &emit!(#output));
        // Names may be bound twice here; that error is reported already.
        let mut seen = HashSet::new();
        let untils = run::public(graph).into_iter().filter_map(|value| {
            if !seen.insert(&graph.values[value].name) {
                return None;
            }
            let (until, ty) = (
                run::until_name(graph, value),
                run::written_type(graph, value),
            );
            let ty = if parsed.named_fallible() {
                emit!(<#output as #rt::Outcome>::With<#ty>)
            } else {
                emit!(#ty)
            };
            Some(method(&until, &ty))
        });
        let methods = implementation(parsed, &emit!(#run #(#untils)*));
        let scripts = test::scripts(graph);
        emit! {
            #methods
            #quiet
            impl<__S> #name::Test<__S>
            where
                __S: #rt::Spawn + ::core::clone::Clone + ::core::marker::Send + ::core::marker::Sync + 'static,
            {
                #(#scripts)*
                #test_run
            }
        }
    };
    emit! {
        #[doc(hidden)]
        #quiet
        #vis mod #name { #on }
        #methods
    }
}

fn implementation(parsed: &Parsed, methods: &TokenStream) -> TokenStream {
    let (rt, name, quiet) = (rt(parsed), &parsed.plain.sig.ident, quiet());
    emit! {
        #quiet
        impl<__S, __D> #name::On<__S, __D>
        where
            __S: #rt::Spawn + ::core::clone::Clone + ::core::marker::Send + ::core::marker::Sync + 'static,
        {
            #methods
        }
    }
}

/// The contents of the module, which do not name the user's types.
fn on(parsed: &Parsed, limited: bool) -> TokenStream {
    let rt = rt(parsed);
    let krate = &parsed.args.krate;
    let name = parsed.plain.sig.ident.unraw();
    let doc_on = format!("Runs of [`{name}`](fn@super::{name}) on `spawner`, in parallel.");
    let limits = limited.then(|| emit!(.with_limits()));
    let doc_test = format!(
        "A run of [`{name}`](fn@super::{name}) under test; see `ws_executor::graph::testing`."
    );
    emit! {
        #[doc = #doc_on]
        pub fn on<S>(spawner: &S) -> On<S>
        where
            S: #rt::Spawn + ::core::clone::Clone + ::core::marker::Send + ::core::marker::Sync + 'static,
        {
            On { bound: #rt::Bound::new(::core::clone::Clone::clone(spawner)) #limits, deadline: ::core::marker::PhantomData }
        }

        #[doc = #doc_test]
        pub fn test<S>(spawner: &S) -> Test<S>
        where
            S: #rt::Spawn + ::core::clone::Clone + ::core::marker::Send + ::core::marker::Sync + 'static,
        {
            Test { run: #rt::TestRun::new(::core::clone::Clone::clone(spawner), #limited) }
        }

        /// A run under test, in which nodes may have made-up outcomes.
        #[derive(Debug)]
        #[must_use = "a graph runs when `run` is awaited"]
        pub struct Test<S> {
            pub(super) run: #rt::TestRun<S>,
        }

        /// An executor for the graph, and the settings of its runs.
        #[derive(Clone, Debug)]
        #[must_use = "a graph runs when `run` is awaited"]
        pub struct On<S, D = #rt::Unbounded> {
            pub(super) bound: #rt::Bound<S>,
            pub(super) deadline: ::core::marker::PhantomData<D>,
        }

        impl<S, D> On<S, D> {
            /// A run that takes longer than this is cancelled, and ends with `TimedOut`.
            pub fn deadline(self, deadline: ::core::time::Duration) -> On<S, #rt::Bounded> {
                On { bound: self.bound.with_deadline(deadline), deadline: ::core::marker::PhantomData }
            }

            #[doc(hidden)]
            pub fn __within<T>(self, outer: &#rt::Bound<T>) -> Self {
                On { bound: self.bound.within(outer), deadline: self.deadline }
            }

            /// Sets the observer, which is told what happens to each node.
            pub fn observer(self, observer: #rt::Arc<dyn #krate::graph::Observer>) -> Self {
                On { bound: self.bound.with_observer(observer), deadline: self.deadline }
            }

            /// The timer for timeouts, pauses and the deadline.
            pub fn timer(self, timer: impl #krate::graph::Timer + 'static) -> Self {
                On { bound: self.bound.with_timer(#rt::Arc::new(timer)), deadline: self.deadline }
            }
        }
    }
}
