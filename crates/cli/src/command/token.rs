//! `gritstone token`: credentials of a server of this store.

use crate::ui::exit::Exit;
use crate::ui::output;
use crate::ui::value_parsers;
use anyhow::Result;
use clap::{Args, Subcommand};
use gritstone_document::Style;
use gritstone_model::hexadecimal;
use gritstone_report::{lists, minute};
use gritstone_runs::context::Context;
use gritstone_store::Scope;
use std::fs::File;
use std::io::Read as _;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  gritstone token create node-17 --scope write
  gritstone token revoke node-17")]
pub struct TokenArgs {
    #[command(subcommand)]
    pub command: TokenCommand,
}

#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Create a token and print it, once
    Create {
        /// Of which machine or person
        name: String,
        /// What it is for
        #[arg(long, value_parser = value_parsers::named(Scope::as_str, SCOPES), value_delimiter = ',', required = true)]
        scope: Vec<Scope>,
    },
    /// List the tokens, without their secrets
    List,
    /// Revoke a token, for good
    Revoke {
        /// Its name
        name: String,
    },
}

const SCOPES: [(Scope, &str); 3] = [
    (Scope::Read, "Read all runs"),
    (Scope::Write, "Send runs, set states of changes"),
    (Scope::Admin, "Remove runs, set states of changes"),
];

/// Bytes of a token: the size of its hash.
const TOKEN_BYTES: usize = 32;
/// Recognized by secret scanners.
const TOKEN_PREFIX: &str = "gritstone_";

pub fn token(context: &Context, command: &TokenCommand) -> Result<Exit> {
    let now = gritstone_runs::clock::now();
    match command {
        TokenCommand::Create { name, scope } => {
            let mut random = [0; TOKEN_BYTES];
            File::open("/dev/urandom")?.read_exact(&mut random)?;
            let secret = format!("{TOKEN_PREFIX}{}", hexadecimal(random));
            context.administrator()?.add_token(name, &secret, scope, &now)?;
            output::plain(&format!("{secret}\n"))?;
            output::remark("shown only once: keep it in a file that only its user can read");
        }
        TokenCommand::List => {
            let tokens = match context.reader()? {
                Some(store) => store.tokens()?,
                None => vec![],
            };
            for damage in tokens.iter().filter_map(|token| token.damage.as_ref()) {
                output::remark(damage);
            }
            let columns = [
                ("token", Style::Code),
                ("scopes", Style::Text),
                ("created (UTC)", Style::Code),
                ("revoked (UTC)", Style::Code),
            ];
            let rows = tokens.iter().map(|token| {
                let scopes: Vec<&str> = token.scopes.iter().map(|scope| scope.as_str()).collect();
                let revoked = token.revoked.as_deref().map_or_else(String::new, minute);
                [token.name.clone(), scopes.join(", "), minute(&token.created), revoked]
            });
            output::text(&lists::table("", columns, rows.collect()))?;
        }
        TokenCommand::Revoke { name } => {
            context.administrator()?.revoke_token(name, &now)?;
            output::remark(&format!("token {name} is revoked"));
        }
    }
    Ok(Exit::Done)
}
