//! The paths in the code of an item, also those in the arguments of macros.
//!
//! A macro's arguments are tokens, not code. Names with `::` between them are taken for a
//! path there. Macros that quote code of another crate are left out.

use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::visit::{self, Visit};

use crate::modules::{Import, Mention, Place, imports, is_for_tests};

/// Macros whose arguments are code of the user's crate.
const QUOTES: &[&str] = &["emit", "parse_quote", "quote", "quote_spanned"];

/// Collects paths.
pub(crate) struct Mentions<'a> {
    file: &'a str,
    pub(crate) found: Vec<Mention>,
    /// Of `use` lines in bodies.
    pub(crate) imports: Vec<Import>,
}

impl<'a> Mentions<'a> {
    pub(crate) fn new(file: &'a str) -> Self {
        Self {
            file,
            found: Vec::new(),
            imports: Vec::new(),
        }
    }

    fn push(&mut self, names: &[Ident]) {
        let Some(first) = names.first() else { return };
        let place = Place::of(first, self.file);
        let path = names.iter().map(Ident::to_string).collect();
        self.found.push(Mention { path, place });
    }

    fn tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<_> = tokens.into_iter().collect();
        let is_colon =
            |at: usize| matches!(tokens.get(at), Some(TokenTree::Punct(it)) if it.as_char() == ':');
        // The mark that stands so many tokens before.
        let mark = |at: usize, before: usize| match at.checked_sub(before).map(|at| &tokens[at]) {
            Some(TokenTree::Punct(it)) => Some(it.as_char()),
            _ => None,
        };
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Ident(name) => {
                    let mut names = vec![name.clone()];
                    let start = at;
                    while is_colon(at + 1) && is_colon(at + 2) {
                        let Some(TokenTree::Ident(name)) = tokens.get(at + 3) else {
                            break;
                        };
                        names.push(name.clone());
                        at += 3;
                    }
                    // A field, a method, a name that is inserted, or a path of another crate;
                    // behind two points is the end of a range.
                    let is_other = match (mark(start, 2), mark(start, 1)) {
                        (before, Some('.')) => before != Some('.'),
                        (before, Some(':')) => before == Some(':'),
                        (_, last) => last == Some('#'),
                    };
                    if !is_other {
                        self.push(&names);
                    }
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
            at += 1;
        }
    }
}

impl<'ast> Visit<'ast> for Mentions<'_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            let names: Vec<_> = path.segments.iter().map(|it| it.ident.clone()).collect();
            self.push(&names);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.visit_path(&call.path);
        let name = call.path.segments.last().map(|it| it.ident.to_string());
        if !name.is_some_and(|name| QUOTES.contains(&name.as_str())) {
            self.tokens(call.tokens.clone());
        }
    }

    fn visit_item_use(&mut self, line: &'ast syn::ItemUse) {
        if line.leading_colon.is_none() {
            let found = imports(&line.tree, self.file, false);
            let local = |import| Import {
                is_local: true,
                ..import
            };
            self.imports.extend(found.into_iter().map(local));
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if !is_for_tests(&function.attrs) {
            visit::visit_impl_item_fn(self, function);
        }
    }

    // `pub(in path)` and attributes are no uses.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
}

/// The names behind these words, at any depth of brackets.
pub(crate) fn idents_after(words: &[&str], tokens: &TokenStream) -> Vec<Ident> {
    let tokens: Vec<_> = tokens.clone().into_iter().collect();
    let mut found = Vec::new();
    for pair in tokens.windows(2) {
        match pair {
            [TokenTree::Ident(word), TokenTree::Ident(name)]
                if words.iter().any(|it| word == it) =>
            {
                found.push(name.clone());
            }
            _ => {}
        }
    }
    for token in &tokens {
        if let TokenTree::Group(group) = token {
            found.extend(idents_after(words, &group.stream()));
        }
    }
    found
}
