//! Who calls, and the users and tenants an administrator sees.

use serde_json::{Value, json};

use super::database::{Database, Tenant, User};
use super::generation::Generation;
use super::paging::PageAsked;
use super::reply::{Outcome, Refusal};
use super::visit::Visit;

/// Stands where the real server shows the hash of the password: no output of the program may ever hold it.
pub const PASSWORD_HASH: &str = "canary-password-hash";

impl Visit<'_> {
    /// `GET /users/get-user-info`.
    pub fn who_am_i(&self, database: &Database) -> Value {
        let mut user = self.user_json(database, self.account);
        // 3.1.9 fills the tenant code for ordinary users only; neither fills the queue.
        if self.account.is_admin() && self.traits.generation.has_records() {
            user["tenantCode"] = Value::Null;
        }
        if self.traits.generation != Generation::V20 {
            user["timeZone"] = json!("UTC");
        }
        user["queueName"] = Value::Null;
        user["queue"] = json!("");
        user
    }

    /// `GET /users/list-paging`, newest first; administrators only (30001).
    pub fn user_page(&self, database: &Database) -> Outcome {
        if !self.account.is_admin() {
            return Err(Refusal::not_permitted());
        }
        let page = PageAsked::of(self.asked)?;
        let users = database.users.values().rev().map(|user| self.user_json(database, user)).collect();
        Ok(page.of_all(users, self.traits.offset_key()))
    }

    /// `GET /tenants/list`; ordinary users see none.
    pub fn tenant_list(&self, database: &Database) -> Value {
        if !self.account.is_admin() {
            return json!([]);
        }
        let time = self.time(database.founded);
        let tenant = |tenant: &Tenant| {
            json!({
                "id": tenant.id, "tenantCode": tenant.code, "description": "", "queueId": 1, "queueName": null, "queue": null,
                "createTime": time, "updateTime": time,
            })
        };
        database.tenants.iter().map(tenant).collect()
    }

    fn user_json(&self, database: &Database, user: &User) -> Value {
        let time = self.time(database.founded);
        // 3.1.9 shows the hash in every user answer, 3.2.2 no longer in those that read.
        let hash = self.traits.generation.has_records().then_some(PASSWORD_HASH);
        let (kind, queue) = (if user.is_admin() { "ADMIN_USER" } else { "GENERAL_USER" }, "default");
        let mut shown = json!({
            "id": user.id, "userName": user.name, "userPassword": hash, "email": "someone@example.com", "phone": "",
            "userType": kind, "tenantId": database.tenant_id(user.tenant.as_deref()).unwrap_or(0), "state": 1,
            "tenantCode": user.tenant, "queueName": queue, "alertGroup": null, "queue": queue, "createTime": time,
            "updateTime": time,
        });
        if self.traits.generation != Generation::V20 {
            shown["timeZone"] = Value::Null;
        }
        shown
    }
}
