//! The runs on an executor: `on`, `run`, `until_x`.
//!
//! All nodes become arms of one async block, which the runtime starts anew for each node.
//! So their types are inferred together, as they are in the function as it was written:
//! the arm of a node fixes the type of its slot, and the arms of its users come later.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::ext::IdentExt;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{FnArg, GenericParam, Generics, Ident, Pat, Token, Type, TypeParamBound};

use super::node::{self, Env};
use super::{describe, own, quiet, rt};
use crate::errors::Errors;
use crate::lower::{Graph, Maker};
use crate::options::Options;
use crate::parse::{Input, Kind, Node, Parsed};

/// The module and the methods of its `On`.
pub(super) fn all(graph: &Graph) -> TokenStream {
    let parsed = &graph.parsed;
    let module = describe::module(graph, &on(parsed, !graph.limited().is_empty()));
    let start = start(graph);
    let run = run(graph);
    let untils = public(graph).into_iter().map(|value| until(graph, value));
    let methods = emit!(#start #run #(#untils)*);
    let methods = implementation(parsed, &methods);
    let (traps, trapped) = untyped(graph)
        .into_iter()
        .map(|value| trap(graph, value))
        .unzip::<_, _, Vec<_>, Vec<_>>();
    let trapped = implementation(parsed, &emit!(#(#trapped)*));
    let test = test(graph);
    emit!(#module #methods #(#traps)* #trapped #test)
}

/// The module and `run`, without a body.
pub(super) fn stub(parsed: &Parsed, errors: &Errors) -> TokenStream {
    let (vis, name) = (&parsed.plain.vis, &parsed.plain.sig.ident);
    let Signature {
        generics, params, ..
    } = Signature::new(parsed);
    let (impl_generics, _, clause) = generics.split_for_impl();
    let output = &parsed.output;
    let quiet = quiet();
    let on = on(parsed, false);
    let run = emit! {
        #[doc(hidden)]
        pub fn run #impl_generics (self, #params) -> impl ::core::future::Future<Output = #output> #clause {
            async { ::core::unreachable!() }
        }
    };
    let methods = if errors.hide_run {
        TokenStream::new()
    } else {
        implementation(parsed, &run)
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

/// What is in the module, of which nothing needs to know the user's types.
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

            /// Who is told what happens to each node.
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

/// The signature of `run`: inputs are owned, and may go to other threads.
struct Signature {
    generics: Generics,
    params: Punctuated<FnArg, Token![,]>,
    /// The parameters as arguments of another call.
    args: Vec<TokenStream>,
}

impl Signature {
    fn new(parsed: &Parsed) -> Self {
        let mut generics = parsed.plain.sig.generics.clone();
        generics.params = generics
            .params
            .into_iter()
            .filter(|param| !matches!(param, GenericParam::Lifetime(_)))
            .collect();
        let types: Vec<Ident> = generics
            .type_params()
            .map(|param| param.ident.clone())
            .collect();
        let clause = generics.make_where_clause();
        for ty in types {
            clause.predicates.push(syn::parse_quote!(
                #ty: ::core::marker::Send + ::core::marker::Sync + 'static
            ));
        }
        let mut params = Punctuated::new();
        let mut args = Vec::new();
        for (index, input) in parsed.inputs.iter().enumerate() {
            let name = match &input.pat {
                Pat::Ident(pat) => pat.ident.clone(),
                _ => format_ident!("input_{index}"),
            };
            let ty = owned(parsed, input);
            params.push(syn::parse_quote!(#name: #ty));
            args.push(emit!(#name));
        }
        Self {
            generics,
            params,
            args,
        }
    }
}

/// The type of an input of a parallel run.
fn owned(parsed: &Parsed, input: &Input) -> Type {
    let rt = rt(parsed);
    match (&input.ty, &input.shared) {
        (Type::Reference(reference), Some(shared)) if shared.exclusive => {
            let target = &reference.elem;
            syn::parse_quote!(#rt::Exclusive<#target>)
        }
        (Type::Reference(reference), Some(_)) => {
            let target = &reference.elem;
            syn::parse_quote!(#rt::Arc<#target>)
        }
        (Type::ImplTrait(ty), _) => {
            let mut ty = ty.clone();
            let more: [TypeParamBound; 3] = [
                syn::parse_quote!(::core::marker::Send),
                syn::parse_quote!(::core::marker::Sync),
                syn::parse_quote!('static),
            ];
            ty.bounds.extend(more);
            Type::ImplTrait(ty)
        }
        (other, _) => other.clone(),
    }
}

/// The values of nodes with a written type, for which there is a partial run: those that
/// no statement with a `return` can keep from being computed.
fn public(graph: &Graph) -> Vec<usize> {
    (0..graph.values.len())
        .filter(|&value| {
            let Maker::Step(maker) = graph.values[value].maker else {
                return false;
            };
            let Kind::Node(node) = &graph.steps()[maker].kind else {
                return false;
            };
            let returns = (0..graph.steps().len()).any(|step| {
                graph.ancestors[maker][step] && !graph.steps()[step].traits.returns.is_empty()
            });
            node.ty.is_some() && matches!(node.pat, Pat::Ident(_)) && !returns
        })
        .collect()
}

/// The methods of a run under test: one for each node with a written type, and `run`.
fn test(graph: &Graph) -> TokenStream {
    let parsed = &graph.parsed;
    let (rt, vis, name, quiet) = (
        rt(parsed),
        &parsed.plain.vis,
        &parsed.plain.sig.ident,
        quiet(),
    );
    let krate = &parsed.args.krate;
    let output = &parsed.output;
    let scripts = graph
        .steps()
        .iter()
        .enumerate()
        .filter_map(|(index, step)| {
            let Kind::Node(Node {
                pat: Pat::Ident(pat),
                ty: Some(ty),
                ..
            }) = &step.kind
            else {
                return None;
            };
            // Types of a generic function are known only where it is run.
            if parsed.plain.sig.generics.type_params().next().is_some() || pat.ident == "run" {
                return None;
            }
            let method = &pat.ident;
            let doc = format!("What node `{}` does instead of its own.", method.unraw());
            Some(emit! {
                #[doc = #doc]
                #vis fn #method(
                    self,
                    script: impl ::core::convert::Into<#krate::graph::testing::Script<#ty>>,
                ) -> Self {
                    Self { run: self.run.with(#index, script.into()) }
                }
            })
        });
    let Signature {
        generics,
        params,
        args,
    } = Signature::new(parsed);
    let (impl_generics, _, clause) = generics.split_for_impl();
    let plan = plan(graph, |_| true);
    emit! {
        #quiet
        impl<__S> #name::Test<__S>
        where
            __S: #rt::Spawn + ::core::clone::Clone + ::core::marker::Send + ::core::marker::Sync + 'static,
        {
            #(#scripts)*

            /// Runs the graph, with virtual time.
            ///
            /// # Panics
            /// With the panic of a node.
            #vis fn run #impl_generics (self, #params) -> impl ::core::future::Future<
                Output = #krate::graph::testing::Report<#output>
            > + ::core::marker::Send
            #clause
            {
                #plan
                self.run.run(&#name::GRAPH, move |__bound| async move {
                    match #name::On::<#rt::Tracking<__S>>::__start(__bound, &__PLAN, 0, #(#args),*).await {
                        #rt::Ended::Exit(__result) => __result,
                        #rt::Ended::Late | #rt::Ended::Complete(_) => #rt::no_result(),
                    }
                })
            }
        }
    }
}

/// The nodes for which a partial run lacks only a written type.
fn untyped(graph: &Graph) -> Vec<usize> {
    (0..graph.values.len())
        .filter(|&value| {
            let Maker::Step(maker) = graph.values[value].maker else {
                return false;
            };
            let name = graph.values[value].name.to_string();
            let Kind::Node(node) = &graph.steps()[maker].kind else {
                return false;
            };
            node.ty.is_none() && matches!(node.pat, Pat::Ident(_)) && !name.starts_with('_')
        })
        .collect()
}

/// A method that says why it is not there: a trait that nobody implements, and a hidden
/// method that demands it.
fn trap(graph: &Graph, value: usize) -> (TokenStream, TokenStream) {
    let parsed = &graph.parsed;
    let name = graph.values[value].name.unraw();
    let method = format_ident!("until_{name}");
    let function = parsed.plain.sig.ident.unraw();
    let guard = format_ident!("__{function}_until_{name}");
    let message = format!("there is no `until_{name}`: the type of node `{name}` is not written");
    let label = format!("write it: `let {name}: Type = …;`");
    let Signature {
        mut generics,
        params,
        ..
    } = Signature::new(parsed);
    generics
        .make_where_clause()
        .predicates
        .push(syn::parse_quote!(__S: #guard));
    let (impl_generics, _, clause) = generics.split_for_impl();
    let quiet = quiet();
    let definition = emit! {
        #[doc(hidden)]
        #quiet
        #[allow(non_camel_case_types)]
        #[diagnostic::on_unimplemented(message = #message, label = #label)]
        pub trait #guard {}
    };
    let method = emit! {
        #[doc(hidden)]
        pub fn #method #impl_generics (self, #params) -> ::core::future::Ready<()> #clause {
            ::core::unreachable!()
        }
    };
    (definition, method)
}

fn written_type(graph: &Graph, value: usize) -> Option<&Type> {
    match graph.values[value].maker {
        Maker::Step(step) => match &graph.steps()[step].kind {
            Kind::Node(node) => node.ty.as_ref(),
            _ => None,
        },
        Maker::Input(_) => None,
    }
}

/// The one function that all runs share: everything is inferred in it, and only in it.
fn start(graph: &Graph) -> TokenStream {
    let parsed = &graph.parsed;
    let rt = rt(parsed);
    let Signature {
        generics,
        params,
        args,
    } = Signature::new(parsed);
    let (impl_generics, _, clause) = generics.split_for_impl();
    let output = &parsed.output;
    let items = &parsed.items;
    let count = graph.steps().len();
    let types = public(graph)
        .into_iter()
        .filter_map(|value| written_type(graph, value));
    let picks = public(graph).into_iter().map(|value| {
        let index = Literal::usize_unsuffixed(value);
        let number = target(value);
        emit!((__target == #number).then(|| __values.#index.take()))
    });
    // Patterns of inputs are taken apart here, so that each name is a value.
    let patterns = parsed
        .inputs
        .iter()
        .zip(&args)
        .filter_map(|(input, arg)| match &input.pat {
            Pat::Ident(_) => None,
            pat => Some(emit!(let #pat = #arg;)),
        });
    let slots = (0..graph.values.len()).map(|value| {
        let name = &graph.values[value].name;
        match (graph.values[value].maker, is_shared(graph, value)) {
            (Maker::Input(_), true) => emit!(#rt::Parallel::full_shared(#name)),
            (Maker::Input(_), false) => emit!(#rt::Parallel::<#rt::Slot<_>>::full(#name)),
            (Maker::Step(_), true) => emit!(#rt::Parallel::new_shared()),
            (Maker::Step(_), false) => emit!(#rt::Parallel::<#rt::Slot<_>>::new()),
        }
    });
    let arms = graph.order.iter().map(|&step| arm(graph, step));
    let (go, end) = if parsed.fallible() {
        (
            emit!(#rt::go::<#output>()),
            emit!(#rt::end::<#output>(__node.await)),
        )
    } else {
        (
            emit!(#rt::Flow::<#output>::Continue(())),
            emit!(__node.await),
        )
    };
    emit! {
        #[doc(hidden)]
        fn __start #impl_generics (
            __bound: #rt::Bound<__S>,
            __plan: &'static #rt::Plan<#count>,
            __target: u32,
            #params
        ) -> impl ::core::future::Future<
            Output = #rt::Ended<#output, (#(::core::option::Option<#types>,)*)>
        > + ::core::marker::Send
        #clause
        {
            #(#items)*
            #(#patterns)*
            let __values = (#(#slots,)*);
            async move {
                let __run = #rt::start(__bound, __plan, __values, |__own, __step| async move {
                    // The node borrows its share in the run, and hands it back.
                    let __flow = {
                        let __ctx = &__own;
                        let __node = async {
                            let __values = __ctx.state();
                            match __step {
                                #(#arms)*
                                _ => #rt::unknown_step(),
                            }
                            #go
                        };
                        #end
                    };
                    (__own, __flow)
                });
                match __run.await {
                    #rt::Ended::Exit(__result) => #rt::Ended::Exit(__result),
                    #rt::Ended::Late => #rt::Ended::Late,
                    #rt::Ended::Complete(__values) => #rt::Ended::Complete((#(#picks,)*)),
                }
            }
        }
    }
}

/// The number of a partial run; 0 is the whole one.
fn target(value: usize) -> u32 {
    u32::try_from(value + 1).unwrap_or(u32::MAX)
}

fn number(step: usize) -> u32 {
    u32::try_from(step).unwrap_or(u32::MAX)
}

/// Whether several nodes may look at a value at once.
fn is_shared(graph: &Graph, value: usize) -> bool {
    graph.is_shared_input(value) || graph.is_lent(value)
}

/// What a step does.
fn arm(graph: &Graph, index: usize) -> TokenStream {
    let step = &graph.steps()[index];
    let rt = rt(&graph.parsed);
    let output = &graph.parsed.output;
    let lent = node::lent(graph, index);
    let inputs: Vec<TokenStream> = graph
        .inputs_of(index)
        .into_iter()
        .map(|value| {
            let name = &graph.values[value].name;
            let (slot, guard) = (Literal::usize_unsuffixed(value), own("lent", name));
            if graph.is_exclusive(value) {
                let handle = own("exclusive", name);
                emit! {
                    let #handle = __values.#slot.share();
                    let mut #guard = #handle.lock().await;
                    let #name = &mut *#guard;
                }
            } else if graph.is_shared_input(value) {
                // The user's name is a reference already, and the slot holds an `Arc`.
                emit!(let #guard = __values.#slot.share(); let #name = &**#guard;)
            } else if graph.values[value].mover != Some(index) {
                emit!(let #guard = __values.#slot.share(); let #name = &*#guard;)
            } else if lent.contains(name) {
                emit!(let #guard = __values.#slot.take(); let #name = &#guard;)
            } else {
                emit!(let #name = __values.#slot.take();)
            }
        })
        .collect();
    let exit = |value: TokenStream| {
        if graph.parsed.fallible() {
            emit!(#rt::exit::<#output>(#value))
        } else {
            emit!(#rt::Flow::<#output>::Break(#value))
        }
    };
    let code = match &step.kind {
        Kind::Node(node) => {
            let value = node_value(graph, index, &inputs);
            let (attrs, pat) = (&node.attrs, &node.pat);
            let ty = node.ty.as_ref().map(|ty| emit!(: #ty));
            let outputs = graph.outputs_of(index).map(|value| {
                let (slot, name) = (Literal::usize_unsuffixed(value), &graph.values[value].name);
                let values = emit!(__values);
                quote_spanned!(name.span()=> #values.#slot.set(#name);)
            });
            emit!(#(#attrs)* let #pat #ty = #value; #(#outputs)*)
        }
        Kind::Fence(stmt) => {
            let mut stmt = node::stmt(graph, stmt, &lent);
            node::Returns { exit: &exit }.visit_stmt_mut(&mut stmt);
            // A fence without `;` is a statement all the same.
            emit!(#stmt;)
        }
        Kind::Tail(expr) => {
            let mut expr = node::expr(graph, expr, &lent);
            node::Returns { exit: &exit }.visit_expr_mut(&mut expr);
            let exit = exit(emit!(__result));
            emit!(let __result: #output = #expr; return #exit;)
        }
    };
    let number = number(index);
    // The inputs of a node that blocks are where it runs.
    let inputs = if step.options.blocking.is_some() {
        Vec::new()
    } else {
        inputs
    };
    emit!(#number => { #(#inputs)* #code })
}

/// The value of a node: on this branch, on another thread, or by a run of its own.
fn node_value(graph: &Graph, index: usize, inputs: &[TokenStream]) -> TokenStream {
    let step = &graph.steps()[index];
    let rt = rt(&graph.parsed);
    let output = &graph.parsed.output;
    let limit = graph.limited().iter().position(|&limited| limited == index);
    let limit = limit.map(|limit| emit!(__ctx.limit(#limit)));
    if step.options.blocking.is_none() {
        return node::value(graph, index, &Env::parallel(graph, index, limit));
    }
    let value = node::value(graph, index, &Env::parallel(graph, index, None));
    let permit = limit.map(|limit| emit!(let __permit = #limit.acquire().await;));
    let (value, end) = if graph.parsed.fallible() {
        (emit!(<#output as #rt::Outcome>::wrap(#value)), emit!(?))
    } else {
        (value, emit!())
    };
    emit! {{
        #permit
        let __own = ::core::clone::Clone::clone(__ctx);
        __ctx.blocking(move || {
            let __ctx = &__own;
            let __values = __ctx.state();
            #(#inputs)*
            #value
        }).await #end
    }}
}

/// The shape of a run that includes the steps for which `part` says so.
fn plan(graph: &Graph, part: impl Fn(usize) -> bool) -> TokenStream {
    let parsed = &graph.parsed;
    let rt = rt(parsed);
    let name = &parsed.plain.sig.ident;
    let count = graph.steps().len();
    let mut needs = vec![0_u32; count];
    let mut next: Vec<Vec<u32>> = vec![Vec::new(); count];
    let mut first = Vec::new();
    for &step in graph.order.iter().filter(|&&step| part(step)) {
        let nearest = graph.nearest_needs(step);
        needs[step] = number(nearest.len());
        if nearest.is_empty() {
            first.push(number(step));
        }
        for need in nearest {
            next[need].push(number(step));
        }
    }
    let next = next.iter().map(|next| emit!(&[#(#next),*]));
    let limits = graph.limited().into_iter().filter_map(|step| {
        graph.steps()[step].options.limit.as_ref().map(|limit| {
            let message = "a limit of 0 would let no run past this node";
            quote_spanned!(limit.span()=> {
                const LIMIT: usize = #limit;
                const { ::core::assert!(LIMIT > 0, #message) };
                LIMIT
            })
        })
    });
    let places = graph.steps().iter().map(|step| match &step.options {
        Options {
            inline: Some(_), ..
        } => emit!(#rt::Place::Inline),
        Options { spawn: Some(_), .. } => emit!(#rt::Place::Spawn),
        _ => emit!(#rt::Place::Any),
    });
    emit! {
        static __PLAN: #rt::Plan<#count> = #rt::Plan {
            graph: &#name::GRAPH,
            needs: [#(#needs),*],
            next: [#(#next),*],
            first: &[#(#first),*],
            place: [#(#places),*],
            limits: &[#(#limits),*],
        };
    }
}

fn run(graph: &Graph) -> TokenStream {
    let parsed = &graph.parsed;
    let (rt, vis) = (rt(parsed), &parsed.plain.vis);
    let Signature {
        mut generics,
        params,
        args,
    } = Signature::new(parsed);
    let output = &parsed.output;
    generics
        .make_where_clause()
        .predicates
        .push(syn::parse_quote!(__D: #rt::DeadlineFor<#output>));
    let (impl_generics, _, clause) = generics.split_for_impl();
    let plan = plan(graph, |_| true);
    emit! {
        /// Runs the graph: nodes whose inputs are ready run at the same time.
        ///
        /// Dropping the future cancels the run.
        ///
        /// # Panics
        /// With the panic of a node, after the others are cancelled; or if the executor
        /// was shut down.
        #vis fn run #impl_generics (self, #params) -> impl ::core::future::Future<Output = #output> + ::core::marker::Send
        #clause
        {
            #plan
            let __run = Self::__start(self.bound, &__PLAN, 0, #(#args),*);
            async move {
                match __run.await {
                    #rt::Ended::Exit(__result) => __result,
                    #rt::Ended::Late => <__D as #rt::DeadlineFor<#output>>::late(),
                    #rt::Ended::Complete(_) => #rt::no_result(),
                }
            }
        }
    }
}

fn until(graph: &Graph, value: usize) -> TokenStream {
    let parsed = &graph.parsed;
    let (rt, vis) = (rt(parsed), &parsed.plain.vis);
    let (Maker::Step(maker), Some(ty)) = (graph.values[value].maker, written_type(graph, value))
    else {
        return TokenStream::new();
    };
    let name = graph.values[value].name.unraw();
    let method = format_ident!("until_{name}", span = graph.values[value].name.span());
    let output = &parsed.output;
    let result = if parsed.fallible() {
        emit!(<#output as #rt::Outcome>::With<#ty>)
    } else {
        emit!(#ty)
    };
    let Signature {
        mut generics,
        params,
        args,
    } = Signature::new(parsed);
    generics
        .make_where_clause()
        .predicates
        .push(syn::parse_quote!(__D: #rt::DeadlineFor<#result>));
    let (impl_generics, _, clause) = generics.split_for_impl();
    let plan = plan(graph, |step| step == maker || graph.ancestors[maker][step]);
    let place = public(graph)
        .iter()
        .position(|&other| other == value)
        .map(Literal::usize_unsuffixed);
    let number = target(value);
    let (exit, wrap) = if parsed.fallible() {
        (
            emit!(#rt::early::<#output, #ty>(__result)),
            emit!(<#output as #rt::Outcome>::wrap(__value)),
        )
    } else {
        (emit!(#rt::no_value(__result)), emit!(__value))
    };
    let doc = format!("Runs only what `{name}` needs, and returns its value.");
    emit! {
        #[doc = #doc]
        #vis fn #method #impl_generics (self, #params) -> impl ::core::future::Future<Output = #result> + ::core::marker::Send
        #clause
        {
            #plan
            let __run = Self::__start(self.bound, &__PLAN, #number, #(#args),*);
            async move {
                match __run.await {
                    #rt::Ended::Exit(__result) => #exit,
                    #rt::Ended::Late => <__D as #rt::DeadlineFor<#result>>::late(),
                    #rt::Ended::Complete(__picked) => match __picked.#place {
                        ::core::option::Option::Some(__value) => #wrap,
                        ::core::option::Option::None => #rt::no_result(),
                    },
                }
            }
        }
    }
}
