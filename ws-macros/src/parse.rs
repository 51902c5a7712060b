//! The function as written: inputs, steps and options, not yet a graph.

use proc_macro2::TokenStream;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream, Parser};
use syn::{
    Attribute, Expr, FnArg, Ident, Item, ItemFn, Local, Pat, PatType, ReturnType, Stmt, Token, Type,
};

use crate::errors::Errors;
use crate::names::bound_names;
use crate::options::Options;
use crate::similar::nearest;
use crate::traits::Traits;

/// The arguments of `#[task_graph(…)]`.
pub(crate) struct Args {
    /// Values may be `!Send`; there is no parallel run.
    pub(crate) local: bool,
    /// Whether the return type is a `Result` or an `Option`, if the user has said so.
    pub(crate) fallible: Option<bool>,
    /// The path of the runtime.
    pub(crate) krate: syn::Path,
}

/// A function under `#[task_graph]`.
pub(crate) struct Parsed {
    pub(crate) args: Args,
    /// The function without the attributes of this macro. It is compiled beside an error.
    pub(crate) plain: ItemFn,
    pub(crate) inputs: Vec<Input>,
    /// Items inside the body: they are not steps.
    pub(crate) items: Vec<Item>,
    pub(crate) steps: Vec<Step>,
    pub(crate) output: Type,
}

/// A parameter.
pub(crate) struct Input {
    pub(crate) pat: Pat,
    pub(crate) ty: Type,
    pub(crate) names: Vec<Ident>,
    pub(crate) shared: Option<Shared>,
}

/// `#[shared]`.
pub(crate) struct Shared {
    pub(crate) exclusive: bool,
}

/// A statement of the body.
pub(crate) struct Step {
    pub(crate) kind: Kind,
    /// Its name in messages and drawings.
    pub(crate) name: String,
    /// The names that it binds.
    pub(crate) names: Vec<Ident>,
    pub(crate) options: Options,
    pub(crate) traits: Traits,
}

#[expect(clippy::large_enum_variant, reason = "most steps are nodes")]
pub(crate) enum Kind {
    /// A `let`: runs when its inputs are there.
    Node(Node),
    /// Any other statement.
    Fence(Stmt),
    /// The result.
    Tail(Expr),
}

pub(crate) struct Node {
    pub(crate) attrs: Vec<Attribute>,
    pub(crate) pat: Pat,
    pub(crate) ty: Option<Type>,
    pub(crate) expr: Expr,
}

impl Default for Args {
    fn default() -> Self {
        Self {
            local: false,
            fallible: None,
            krate: syn::parse_quote!(::ws_executor),
        }
    }
}

impl Parse for Args {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut args = Self::default();
        while !input.is_empty() {
            let name = input.call(Ident::parse_any)?;
            match name.to_string().as_str() {
                "local" => args.local = true,
                "crate" => {
                    input.parse::<Token![=]>()?;
                    args.krate = krate(input)?;
                }
                "fallible" => {
                    let said: Option<Token![=]> = input.parse()?;
                    args.fallible = Some(match said {
                        Some(_) => input.parse::<syn::LitBool>()?.value,
                        None => true,
                    });
                }
                unknown => {
                    let help = match nearest(unknown, ["local", "fallible", "crate"]) {
                        Some(name) => format!("did you mean `{name}`?"),
                        None => "the arguments are `local`, `fallible`, `crate = path`".to_owned(),
                    };
                    let message = format!("`task_graph` has no argument `{unknown}`\nhelp: {help}");
                    return Err(syn::Error::new(name.span(), message));
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(args)
    }
}

/// The path of the runtime, perhaps in a string, as in other macros.
fn krate(input: ParseStream<'_>) -> syn::Result<syn::Path> {
    if input.peek(syn::LitStr) {
        input
            .parse::<syn::LitStr>()?
            .parse_with(syn::Path::parse_mod_style)
    } else {
        input.call(syn::Path::parse_mod_style)
    }
}

impl Parsed {
    /// Reads the function. Errors go to `errors`.
    pub(crate) fn new(args: Args, function: ItemFn, errors: &mut Errors) -> Self {
        let mut plain = function;
        let inputs = inputs(&mut plain, errors);
        let (items, steps) = steps(&mut plain, errors);
        let output = match &plain.sig.output {
            ReturnType::Default => syn::parse_quote!(()),
            ReturnType::Type(_, ty) => bare(ty).clone(),
        };
        Self {
            args,
            plain,
            inputs,
            items,
            steps,
            output,
        }
    }

    /// Whether nodes are compiled so that `?` may end the run.
    ///
    /// This is also so without any `?`, if the return type works with it: a macro may hide a
    /// `?`, and `Err` is a failure to a pipeline. Here only the name of the type is known.
    /// `rt::Returned` lets the compiler check that no other type is a `Result` after all. If
    /// the type is known not to work with `?`, an apparent `?` in a macro does not count.
    pub(crate) fn fallible(&self) -> bool {
        let never = self.args.fallible == Some(false) || is_no_result(&self.output);
        let fails = |traits: &Traits| !traits.questions.is_empty() || (traits.may_fail && !never);
        self.named_fallible() || self.steps.iter().any(|step| fails(&step.traits))
    }

    /// As [`fallible`](Self::fallible), by the signature alone.
    pub(crate) fn named_fallible(&self) -> bool {
        let named = match &self.output {
            Type::Path(path) => path
                .path
                .segments
                .last()
                .is_some_and(|segment| segment.ident == "Result" || segment.ident == "Option"),
            _ => false,
        };
        self.args.fallible.unwrap_or(named)
    }
}

/// A type without the parentheses around it, and without the invisible group of a macro's
/// `$ty`.
fn bare(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => bare(&group.elem),
        Type::Paren(paren) => bare(&paren.elem),
        other => other,
    }
}

/// Whether a type is known not to work with `?`. Other types are left to rustc.
pub(crate) fn is_no_result(ty: &Type) -> bool {
    const PLAIN: [&str; 22] = [
        "bool", "char", "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64",
        "i128", "isize", "f32", "f64", "String", "Vec", "Box", "Arc", "HashMap", "BTreeMap",
    ];
    match ty {
        Type::Path(path) => path
            .path
            .segments
            .last()
            .is_some_and(|last| PLAIN.iter().any(|plain| last.ident == plain)),
        Type::Tuple(_) | Type::Array(_) | Type::Reference(_) | Type::Never(_) => true,
        _ => false,
    }
}

fn inputs(function: &mut ItemFn, errors: &mut Errors) -> Vec<Input> {
    let mut inputs = Vec::new();
    for input in &mut function.sig.inputs {
        let FnArg::Typed(PatType { attrs, pat, ty, .. }) = input else {
            errors.hide_module = true;
            errors.at(
                &*input,
                "a graph is a free function: give it what it needs as inputs, without `self`",
            );
            continue;
        };
        inputs.push(Input {
            shared: shared(attrs, errors),
            names: bound_names(pat),
            pat: (**pat).clone(),
            ty: bare(ty).clone(),
        });
    }
    inputs
}

/// Takes `#[shared]` out of the attributes of a parameter.
fn shared(attrs: &mut Vec<Attribute>, errors: &mut Errors) -> Option<Shared> {
    let mut shared = None;
    attrs.retain(|attr| {
        if !attr.path().is_ident("shared") {
            return true;
        }
        let mut exclusive = false;
        if !matches!(attr.meta, syn::Meta::Path(_)) {
            let word: syn::Result<Ident> = attr.parse_args();
            exclusive = word.as_ref().is_ok_and(|word| word == "exclusive");
            if !exclusive {
                errors.at(attr, "write `#[shared]` or `#[shared(exclusive)]`");
            }
        }
        shared = Some(Shared { exclusive });
        false
    });
    shared
}

fn steps(function: &mut ItemFn, errors: &mut Errors) -> (Vec<Item>, Vec<Step>) {
    let (mut items, mut steps) = (Vec::new(), Vec::new());
    let count = function.block.stmts.len();
    for (index, stmt) in function.block.stmts.iter_mut().enumerate() {
        let last = index + 1 == count;
        match stmt {
            Stmt::Item(item) => items.push(item.clone()),
            Stmt::Local(local) => steps.extend(node(local, errors)),
            Stmt::Expr(expr, None) if last => steps.push(tail(expr.clone())),
            Stmt::Expr(Expr::Return(ret), Some(_)) if last => {
                steps.push(tail(
                    ret.expr
                        .as_deref()
                        .cloned()
                        .unwrap_or(syn::parse_quote!(())),
                ));
            }
            Stmt::Macro(call) if last && call.semi_token.is_none() => {
                let mac = &call.mac;
                steps.push(tail(syn::parse_quote!(#mac)));
            }
            other => steps.push(fence(other, errors)),
        }
    }
    if !matches!(
        steps.last(),
        Some(Step {
            kind: Kind::Tail(_),
            ..
        })
    ) {
        steps.push(tail(syn::parse_quote!(())));
    }
    (items, steps)
}

fn node(local: &mut Local, errors: &mut Errors) -> Option<Step> {
    let options = Options::take(&mut local.attrs, errors).unwrap_or_default();
    let (pat, ty) = match &local.pat {
        Pat::Type(typed) => ((*typed.pat).clone(), Some(bare(&typed.ty).clone())),
        other => (other.clone(), None),
    };
    let Some(init) = &local.init else {
        errors.hide_body = true;
        errors.at(&*local, "a node needs a value: `let name = …;`");
        return None;
    };
    if let Some((token, _)) = &init.diverge {
        errors.at(
            token,
            "a node has no `else`: end the run with `?`, or route with `match` and `return` in a statement of its own",
        );
    }
    let names = bound_names(&pat);
    let name = match &options.name {
        Some(text) => text.value(),
        None if names.is_empty() => "_".to_owned(),
        None => names
            .iter()
            .map(|name| name.unraw().to_string())
            .collect::<Vec<_>>()
            .join(", "),
    };
    Some(Step {
        name,
        names,
        traits: Traits::of_expr(&init.expr),
        options,
        kind: Kind::Node(Node {
            attrs: local.attrs.clone(),
            pat,
            ty,
            expr: (*init.expr).clone(),
        }),
    })
}

fn fence(stmt: &mut Stmt, errors: &mut Errors) -> Step {
    let attrs = match stmt {
        Stmt::Expr(expr, _) => expr_attrs(expr),
        Stmt::Macro(call) => Some(&mut call.attrs),
        Stmt::Local(_) | Stmt::Item(_) => None,
    };
    if let Some(attrs) = attrs {
        let first = attrs
            .iter()
            .find(|attr| attr.path().is_ident("node"))
            .cloned();
        if Options::take(attrs, &mut Errors::default()).is_some() {
            errors.at(
                first,
                "options are for nodes: write `let _ = …;`, or `let name = …;`",
            );
        }
    }
    Step {
        name: "fence".to_owned(),
        names: Vec::new(),
        options: Options::default(),
        traits: Traits::of_stmt(stmt),
        kind: Kind::Fence(stmt.clone()),
    }
}

fn tail(expr: Expr) -> Step {
    Step {
        name: "result".to_owned(),
        names: Vec::new(),
        options: Options::default(),
        traits: Traits::of_expr(&expr),
        kind: Kind::Tail(expr),
    }
}

/// The attributes of an expression that may stand as a statement with attributes.
fn expr_attrs(expr: &mut Expr) -> Option<&mut Vec<Attribute>> {
    match expr {
        Expr::Await(expr) => Some(&mut expr.attrs),
        Expr::Block(expr) => Some(&mut expr.attrs),
        Expr::Call(expr) => Some(&mut expr.attrs),
        Expr::ForLoop(expr) => Some(&mut expr.attrs),
        Expr::If(expr) => Some(&mut expr.attrs),
        Expr::Loop(expr) => Some(&mut expr.attrs),
        Expr::Macro(expr) => Some(&mut expr.attrs),
        Expr::Match(expr) => Some(&mut expr.attrs),
        Expr::MethodCall(expr) => Some(&mut expr.attrs),
        Expr::Try(expr) => Some(&mut expr.attrs),
        Expr::While(expr) => Some(&mut expr.attrs),
        _ => None,
    }
}

/// Parses both token streams of the attribute.
pub(crate) fn parse(args: TokenStream, item: TokenStream, errors: &mut Errors) -> Option<Parsed> {
    let args = Args::parse.parse2(args).unwrap_or_else(|error| {
        errors.push(error);
        Args::default()
    });
    match syn::parse2::<ItemFn>(item.clone()) {
        Ok(function) => Some(Parsed::new(args, function, errors)),
        Err(error) => {
            // rustc reports the error in its own words, too.
            let what = if begins_as_async_fn.parse2(item).is_ok() {
                "this function cannot be read"
            } else {
                "`#[task_graph]` goes on an `async fn`"
            };
            errors.push(syn::Error::new(error.span(), format!("{what}: {error}")));
            None
        }
    }
}

fn begins_as_async_fn(input: ParseStream<'_>) -> syn::Result<()> {
    input.call(Attribute::parse_outer)?;
    input.parse::<syn::Visibility>()?;
    input.parse::<Token![async]>()?;
    input.parse::<Token![fn]>()?;
    input.parse::<TokenStream>()?;
    Ok(())
}

/// The function that an expression calls and awaits: `path(…).await`, perhaps with `?`.
pub(crate) fn called(expr: &Expr) -> Option<&syn::Path> {
    match expr {
        Expr::Try(expr) => called(&expr.expr),
        Expr::Await(expr) => match &*expr.base {
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) if path.qself.is_none() => Some(&path.path),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}
