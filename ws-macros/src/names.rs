//! The names that an expression uses, found on the syntax tree.
//!
//! A use is a path of one segment in the position of a value. Field and method names are not
//! uses. Nor is a name that a closure, a `let`, a `match` arm or a loop inside the expression
//! binds: the walk keeps scopes as Rust does. In the input of a known macro ([`macros`]) uses
//! are found as everywhere else, and `{name}` in a format string is a use. In any other macro
//! every identifier of that name counts as a use, unless it is clearly something else.
//!
//! The same walk replaces uses, which the expansion needs for shared values. It does not
//! replace in unknown macros, because they may show their input as text, or need a name.

use std::collections::HashSet;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::visit::Visit;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprLit, Ident, Lit, LitStr, Macro, Pat, Stmt, Token};

use crate::format;
use crate::macros::{self, Format, List, Shape};

/// The position of a name, as far as it says what the name may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    /// `name(…)`: most likely a function.
    Callee,
    /// `f(name)`.
    Argument,
    /// `x.f(name)`: may be a function, too.
    MethodArgument,
    /// Anywhere else in an expression.
    Place,
    /// `{name}` in a format string; cannot be replaced.
    Format,
    /// In an unknown macro, or a width in a format string; cannot be replaced.
    Opaque,
}

/// What is done with each use: a visitor.
pub(crate) trait Uses {
    /// Visits a use, and may replace it.
    fn found(&mut self, name: &Ident, position: Position) -> Option<Expr>;
}

impl<F: FnMut(&Ident, Position) -> Option<Expr>> Uses for F {
    fn found(&mut self, name: &Ident, position: Position) -> Option<Expr> {
        self(name, position)
    }
}

/// Walks over an expression.
pub(crate) fn walk_expr(expr: &mut Expr, uses: &mut (impl Uses + ?Sized)) {
    Walk::new(uses).visit_expr_mut(expr);
}

/// Walks over an expression that is most likely a function.
pub(crate) fn walk_callee(expr: &mut Expr, uses: &mut impl Uses) {
    Walk::new(uses).visit_at(expr, Position::Callee);
}

/// Walks over a statement that is not a `let`.
pub(crate) fn walk_stmt(stmt: &mut Stmt, uses: &mut (impl Uses + ?Sized)) {
    Walk::new(uses).visit_stmt_mut(stmt);
}

/// The names in a pattern that always matches, in order: such a pattern has only bindings.
pub(crate) fn bound_names(pat: &Pat) -> Vec<Ident> {
    struct Bound(Vec<Ident>);
    impl<'ast> Visit<'ast> for Bound {
        fn visit_pat_ident(&mut self, pat: &'ast syn::PatIdent) {
            // Each side of `Ok(x) | Err(x)` binds the same names.
            if !self.0.contains(&pat.ident) {
                self.0.push(pat.ident.clone());
            }
            syn::visit::visit_pat_ident(self, pat);
        }
    }
    let mut bound = Bound(Vec::new());
    bound.visit_pat(pat);
    bound.0
}

/// The names that a pattern binds which may fail to match. By convention, a name in such a
/// pattern that begins with a capital is a constant or a unit variant.
fn matched_names(pat: &Pat) -> Vec<Ident> {
    let mut names = bound_names(pat);
    names.retain(|name| !is_upper(name));
    names
}

/// Whether a name begins with a capital.
pub(crate) fn is_upper(name: &Ident) -> bool {
    name.unraw().to_string().starts_with(char::is_uppercase)
}

struct Walk<'u, U: ?Sized> {
    /// Names that the expression binds itself, innermost last.
    scopes: Vec<HashSet<Ident>>,
    /// The walk is inside an unknown macro.
    opaque: bool,
    /// The number of uses that were replaced.
    replaced: usize,
    uses: &'u mut U,
}

impl<'u, U: Uses + ?Sized> Walk<'u, U> {
    fn new(uses: &'u mut U) -> Self {
        Self {
            scopes: vec![HashSet::new()],
            opaque: false,
            replaced: 0,
            uses,
        }
    }

    fn scoped(&mut self, code: impl FnOnce(&mut Self)) {
        self.scopes.push(HashSet::new());
        code(self);
        self.scopes.pop();
    }

    fn bind(&mut self, names: impl IntoIterator<Item = Ident>) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.extend(names);
        }
    }

    fn use_name(&mut self, name: &Ident, position: Position) -> Option<Expr> {
        if self.scopes.iter().any(|scope| scope.contains(name)) {
            return None;
        }
        if self.opaque {
            self.uses.found(name, Position::Opaque);
            return None;
        }
        let other = self.uses.found(name, position);
        self.replaced += usize::from(other.is_some());
        other
    }

    /// Visits an expression that stands at `position`.
    fn visit_at(&mut self, expr: &mut Expr, position: Position) {
        let Some(name) = single(expr) else {
            return self.visit_expr_mut(expr);
        };
        if let Some(other) = self.use_name(&name, position) {
            *expr = other;
        }
    }

    /// The raw input of a macro.
    fn tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (index, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Ident(name) if !is_no_value(&tokens, index) => {
                    self.use_name(name, Position::Opaque);
                }
                TokenTree::Literal(literal) => {
                    if let Lit::Str(text) = Lit::new(literal.clone()) {
                        self.format(&text, &[]);
                    }
                }
                TokenTree::Ident(_) | TokenTree::Punct(_) => {}
            }
        }
    }

    /// A format string, with the names of the arguments after it.
    fn format(&mut self, text: &LitStr, named: &[Ident]) {
        for (name, place) in format::captures(&text.value()) {
            let position = match place {
                format::Capture::Value => Position::Format,
                format::Capture::Width => Position::Opaque,
            };
            let name = format::ident(&name, text.span());
            if let Some(name) = name.filter(|name| !named.contains(name)) {
                self.use_name(&name, position);
            }
        }
    }

    /// The input of a macro. A bare `name = value` names an argument.
    fn list(&mut self, list: &mut List) {
        let named: Vec<Ident> = list.items.iter().filter_map(argument_name).collect();
        for (index, item) in list.items.iter_mut().enumerate() {
            match item {
                Expr::Lit(ExprLit {
                    lit: Lit::Str(text),
                    ..
                }) => {
                    if list.format == Format::Any || list.format == Format::At(index) {
                        self.format(text, &named);
                    }
                }
                Expr::Assign(assign) if single(&assign.left).is_some() => {
                    self.visit_expr_mut(&mut assign.right);
                }
                other => self.visit_expr_mut(other),
            }
        }
    }
}

/// Whether an identifier in the input of a macro is a field, a method, a part of a path, a
/// lifetime, or the name of an argument.
fn is_no_value(tokens: &[TokenTree], index: usize) -> bool {
    let is = |at: Option<usize>, char| {
        let token = at.and_then(|at| tokens.get(at));
        matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == char)
    };
    let before = |steps| index.checked_sub(steps);
    let after = |steps| Some(index + steps);
    let member = is(before(1), '.') && !is(before(2), '.');
    let path = is(before(1), ':') && is(before(2), ':') || is(after(1), ':') && is(after(2), ':');
    let given = is(after(1), '=') && !is(after(2), '=') && !is(after(2), '>');
    member || path || given || is(before(1), '\'')
}

/// The name in `name = value`.
fn argument_name(item: &Expr) -> Option<Ident> {
    match item {
        Expr::Assign(assign) => single(&assign.left),
        _ => None,
    }
}

/// The name, if the expression is only a name.
fn single(expr: &Expr) -> Option<Ident> {
    match expr {
        Expr::Path(path) if path.qself.is_none() => path.path.get_ident().cloned(),
        Expr::Group(group) => single(&group.expr),
        _ => None,
    }
}

impl<U: Uses + ?Sized> VisitMut for Walk<'_, U> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Path(_) | Expr::Group(_) if single(expr).is_some() => {
                self.visit_at(expr, Position::Place);
            }
            Expr::Call(call) => {
                self.visit_at(&mut call.func, Position::Callee);
                for input in &mut call.args {
                    self.visit_at(input, Position::Argument);
                }
            }
            Expr::MethodCall(call) => {
                self.visit_expr_mut(&mut call.receiver);
                for input in &mut call.args {
                    self.visit_at(input, Position::MethodArgument);
                }
            }
            Expr::Struct(literal) => {
                for field in &mut literal.fields {
                    let before = field.expr.clone();
                    self.visit_expr_mut(&mut field.expr);
                    if field.colon_token.is_none() && field.expr != before {
                        field.colon_token = Some(<Token![:]>::default());
                    }
                }
                if let Some(rest) = &mut literal.rest {
                    self.visit_expr_mut(rest);
                }
            }
            Expr::Closure(closure) => self.scoped(|walk| {
                for input in &closure.inputs {
                    walk.bind(bound_names(input));
                }
                walk.visit_expr_mut(&mut closure.body);
            }),
            Expr::If(branch) => {
                self.scoped(|walk| {
                    walk.visit_expr_mut(&mut branch.cond);
                    walk.visit_block_mut(&mut branch.then_branch);
                });
                if let Some((_, other)) = &mut branch.else_branch {
                    self.visit_expr_mut(other);
                }
            }
            Expr::While(repeat) => self.scoped(|walk| {
                walk.visit_expr_mut(&mut repeat.cond);
                walk.visit_block_mut(&mut repeat.body);
            }),
            Expr::Let(condition) => {
                self.visit_expr_mut(&mut condition.expr);
                self.bind(matched_names(&condition.pat));
            }
            Expr::ForLoop(repeat) => {
                self.visit_expr_mut(&mut repeat.expr);
                self.scoped(|walk| {
                    walk.bind(bound_names(&repeat.pat));
                    walk.visit_block_mut(&mut repeat.body);
                });
            }
            Expr::Match(choice) => {
                self.visit_expr_mut(&mut choice.expr);
                for arm in &mut choice.arms {
                    self.scoped(|walk| {
                        walk.bind(matched_names(&arm.pat));
                        if let Some((_, guard)) = &mut arm.guard {
                            walk.visit_expr_mut(guard);
                        }
                        walk.visit_expr_mut(&mut arm.body);
                    });
                }
            }
            other => visit_mut::visit_expr_mut(self, other),
        }
    }

    fn visit_block_mut(&mut self, block: &mut Block) {
        self.scoped(|walk| {
            for stmt in &mut block.stmts {
                walk.visit_stmt_mut(stmt);
            }
        });
    }

    fn visit_stmt_mut(&mut self, stmt: &mut Stmt) {
        match stmt {
            Stmt::Local(local) => {
                let mut names = bound_names(&local.pat);
                if let Some(init) = &mut local.init {
                    self.visit_expr_mut(&mut init.expr);
                    if let Some((_, other)) = &mut init.diverge {
                        self.visit_expr_mut(other);
                        names = matched_names(&local.pat);
                    }
                }
                self.bind(names);
            }
            Stmt::Item(item) => self.bind(item_name(item)),
            Stmt::Expr(expr, _) => self.visit_expr_mut(expr),
            Stmt::Macro(stmt) => self.visit_macro_mut(&mut stmt.mac),
        }
    }

    fn visit_macro_mut(&mut self, mac: &mut Macro) {
        let input = macros::read(mac);
        let (opaque, replaced) = (self.opaque, self.replaced);
        self.opaque |= !input.known;
        let tokens = match input.shape {
            Shape::Text => TokenStream::new(),
            Shape::List(mut list) => {
                self.list(&mut list);
                list.items.into_token_stream()
            }
            Shape::Repeat(mut item, semi, mut count) => {
                self.visit_expr_mut(&mut item);
                self.visit_expr_mut(&mut count);
                quote::quote!(#item #semi #count)
            }
            Shape::Matches(mut matches) => {
                self.visit_expr_mut(&mut matches.value);
                self.scoped(|walk| {
                    walk.bind(matched_names(&matches.pat));
                    if let Some((_, guard)) = &mut matches.guard {
                        walk.visit_expr_mut(guard);
                    }
                });
                self.list(&mut matches.message);
                matches.into_token_stream()
            }
            Shape::Tokens => {
                self.tokens(mac.tokens.clone());
                TokenStream::new()
            }
        };
        self.opaque = opaque;
        if self.replaced > replaced {
            let message = macros::own_message(mac);
            mac.tokens = quote::quote!(#tokens #message);
        }
    }

    // Neither types, nor patterns, nor items use the values of a function.
    fn visit_type_mut(&mut self, _: &mut syn::Type) {}
    fn visit_pat_mut(&mut self, _: &mut Pat) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// The name of the value that an item inside a block defines.
fn item_name(item: &syn::Item) -> Option<Ident> {
    match item {
        syn::Item::Fn(item) => Some(item.sig.ident.clone()),
        syn::Item::Const(item) => Some(item.ident.clone()),
        syn::Item::Static(item) => Some(item.ident.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{Position, walk_expr};
    use quote::ToTokens;
    use syn::{Expr, Ident, parse_quote};

    fn uses(mut expr: Expr) -> Vec<String> {
        let mut found = Vec::new();
        walk_expr(&mut expr, &mut |name: &Ident, position: Position| {
            if position != Position::Callee {
                found.push(name.to_string());
            }
            None
        });
        found
    }

    #[test]
    fn values_are_uses_and_fields_methods_and_functions_are_not() {
        assert_eq!(uses(parse_quote!(f(&a.b.c, d.e(g)))), ["a", "d", "g"]);
        assert_eq!(uses(parse_quote!(S { a, b: c, ..d })), ["a", "c", "d"]);
        assert_eq!(uses(parse_quote!(m::a + T::b(c))), ["c"]);
    }

    #[test]
    fn own_names_are_not_uses() {
        assert_eq!(uses(parse_quote!(a.map(|b| b + c))), ["a", "c"]);
        assert_eq!(
            uses(parse_quote!({
                let a = a;
                a + b
            })),
            ["a", "b"]
        );
        assert_eq!(
            uses(parse_quote!(match a {
                Some(b) if b > c => b,
                d => e,
            })),
            ["a", "c", "e"]
        );
        assert_eq!(
            uses(parse_quote!(if let Some(a) = a { a } else { a })),
            ["a", "a"]
        );
        assert_eq!(
            uses(parse_quote!({
                for a in a {
                    a;
                }
            })),
            ["a"]
        );
        assert_eq!(
            uses(parse_quote!({
                fn a() {}
                a
            })),
            Vec::<String>::new()
        );
    }

    #[test]
    fn macros_are_looked_into() {
        assert_eq!(
            uses(parse_quote!(format!("{a:?} {}", b.c, d = e))),
            ["a", "b", "e"]
        );
        assert_eq!(uses(parse_quote!(vec![a; b])), ["a", "b"]);
        assert_eq!(
            uses(parse_quote!(json!({ "x": a, y: [b] }))),
            ["a", "y", "b"]
        );
        assert_eq!(uses(parse_quote!(join!(f(&a), g(b)))), ["a", "b"]);
        let none = Vec::<String>::new();
        assert_eq!(uses(parse_quote!(stringify!(a + "{b}"))), none);
        assert_eq!(uses(parse_quote!(format!("{a} {}", "{b}", a = 1))), none);
        assert_eq!(uses(parse_quote!(format!("{type} {self}"))), ["r#type"]);
        assert_eq!(uses(parse_quote!(vec!["{a}"])), none);
        assert_eq!(uses(parse_quote!(bail!("{a}"))), ["a"]);
        assert_eq!(
            uses(parse_quote!(info!(?a.b, c::d, e = %f, ..g, 'h, i == j))),
            ["a", "f", "g", "i", "j"]
        );
        assert_eq!(
            uses(parse_quote!(matches!(a, Some(b) | Ok(b) if b > c))),
            ["a", "c"]
        );
        assert_eq!(
            uses(parse_quote!(assert_matches!(a, Some(b), "{b} {}", c))),
            ["a", "b", "c"]
        );
    }

    fn replaced(mut expr: Expr) -> String {
        walk_expr(&mut expr, &mut |name: &Ident, _: Position| {
            (name == "a").then(|| parse_quote!(*a))
        });
        expr.to_token_stream().to_string()
    }

    fn text(expr: Expr) -> String {
        expr.to_token_stream().to_string()
    }

    #[test]
    fn uses_are_replaced() {
        assert_eq!(
            replaced(parse_quote!(f(&a, a.b(), S { a, c: 1 }, |a| a, vec![a]))),
            text(parse_quote!(f(
                &*a,
                (*a).b(),
                S { a: *a, c: 1 },
                |a| a,
                vec![*a]
            )))
        );
        assert_eq!(
            replaced(parse_quote!(matches!(a, Some(a) if a > 3))),
            text(parse_quote!(matches!(*a, Some(a) if a > 3)))
        );
    }

    #[test]
    fn what_is_shown_as_text_is_not_replaced() {
        assert_eq!(
            replaced(parse_quote!(assert!(a > 3))),
            text(parse_quote!(assert!(
                *a > 3,
                "assertion failed: {}",
                "a > 3"
            )))
        );
        assert_eq!(
            replaced(parse_quote!(assert!(a > 3, "{a}"))),
            text(parse_quote!(assert!(*a > 3, "{a}")))
        );
        for same in [
            parse_quote!(dbg!(a)),
            parse_quote!(info!(a, a.b, "{a}")),
            parse_quote!(format!("{}", stringify!(a))),
            parse_quote!(other!(f(a), format!("{}", a))),
            parse_quote!(assert!(b > 3)),
        ] {
            assert_eq!(replaced(Expr::clone(&same)), text(same));
        }
    }
}
