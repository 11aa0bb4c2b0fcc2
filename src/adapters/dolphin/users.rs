//! Users and the tenant each belongs to now. It decides where a record's file lies.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::envelope::{Api, Question};
use super::pages::{self, Trouble};
use super::probe::Identity;
use crate::views::resources::User;

/// A row of the user list. The server sends a password hash with it (3.1.9), which no field here takes.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireUser {
    id: i64,
    #[serde(default)]
    user_name: Option<String>,
    #[serde(default)]
    tenant_code: Option<String>,
}

/// All users (administrators only), by id.
pub(super) async fn fetch_users(api: &Api, page_size: u32) -> (BTreeMap<i64, User>, Option<Trouble>) {
    let question = Question::new("the user list", "/users/list-paging");
    let listed = pages::list_all(api, &question, page_size, |user: &WireUser| user.id).await;
    let users = listed.entries.into_iter().map(|wire| (wire.id, to_user(wire))).collect();
    (users, listed.trouble)
}

fn to_user(wire: WireUser) -> User {
    User { name: wire.user_name.unwrap_or_default(), tenant: wire.tenant_code.filter(|code| !code.is_empty()) }
}

/// The one user that an account without administrator rights knows: itself.
pub(super) fn only_self(identity: &Identity) -> BTreeMap<i64, User> {
    BTreeMap::from([(identity.id, User { name: identity.name.clone(), tenant: identity.tenant.clone() })])
}
