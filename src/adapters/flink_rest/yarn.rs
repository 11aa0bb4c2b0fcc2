//! Finds the address of a Flink application by one question to a YARN ResourceManager.
//!
//! Per-job and application mode get a new application id, and with it a new proxy address, with each start.

use serde::Deserialize;
use serde_json::Value;
use url::Url;

use super::ask::{ask, below, gap, place};
use super::wire::WrongShape;
use crate::adapters::http::HttpClient;
use crate::domain::text::printable;
use crate::views::{Cause, Gap, ViewName};

/// One application as `/ws/v1/cluster/apps` shows it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct App {
    id: String,
    name: String,
    #[serde(default)]
    state: Option<String>,
    #[serde(rename = "trackingUrl", default)]
    tracking_url: Option<String>,
}

/// The REST base URL of the application with exactly this name.
pub(super) async fn find(
    http: &HttpClient,
    cluster: &str,
    resource_manager: &Url,
    application: &str,
) -> Result<Url, Gap> {
    let mut url = below(resource_manager, "ws/v1/cluster/apps");
    url.set_query(Some("states=RUNNING,ACCEPTED&applicationTypes=Apache%20Flink"));
    let apps = match ask(http, &url).await {
        Ok(body) => parse(&body).map_err(|shape| gap(cluster, &url, &shape.into()))?,
        Err(failure) => return Err(gap(cluster, &url, &failure)),
    };
    let app = choose(&apps, application).map_err(|(cause, why)| {
        let detail = format!("GET {}: {why}", place(&url));
        Gap::incomplete(ViewName::Flink, cause, detail).of_cluster(cluster)
    })?;
    Ok(address(resource_manager, app))
}

/// No application at all is `{"apps":null}` up to Hadoop 3.2 and `{"apps":{}}` in some later ones.
fn parse(body: &Value) -> Result<Vec<App>, WrongShape> {
    let wrong = WrongShape("list of YARN applications");
    match body.get("apps") {
        Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Object(apps)) => match apps.get("app") {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(list) => Vec::deserialize(list).map_err(|_| wrong),
        },
        _ => Err(wrong),
    }
}

/// The one application of that name, or the class and the words of a gap.
fn choose<'a>(apps: &'a [App], name: &str) -> Result<&'a App, (Cause, String)> {
    let named: Vec<&App> = apps.iter().filter(|app| app.name == name).collect();
    let name = printable(name);
    match named[..] {
        [] => Err((
            Cause::Unreachable,
            format!(
                "no running application of type `Apache Flink` is named `{name}` (of {} listed); see that it runs and that `yarn_application` is its exact name, or set `retired = true` if it is gone for good",
                apps.len()
            ),
        )),
        [app] if app.state.as_deref() == Some("RUNNING") => Ok(app),
        [app] => Err((
            Cause::TooYoung,
            format!("the application `{name}` ({}) has not started yet; run again when it runs", printable(&app.id)),
        )),
        _ => {
            let ids: Vec<String> = named.iter().map(|app| printable(&app.id)).collect();
            Err((
                Cause::Disagreement,
                format!(
                    "{} applications are named `{name}`: {}; stop all but one, or give each a name of its own",
                    ids.len(),
                    ids.join(", ")
                ),
            ))
        }
    }
}

/// The ResourceManager's own proxy, or the tracking URL where that leads to the same host. Another host is never asked:
/// it would get our credentials.
fn address(resource_manager: &Url, app: &App) -> Url {
    let tracked = app.tracking_url.as_deref().and_then(|text| Url::parse(text).ok());
    match tracked {
        Some(url) if is_same_host(resource_manager, &url) => url,
        _ => below(resource_manager, &format!("proxy/{}/", app.id)),
    }
}

fn is_same_host(resource_manager: &Url, tracked: &Url) -> bool {
    let plain = tracked.username().is_empty() && tracked.password().is_none();
    let safe = tracked.scheme() == "https" || tracked.scheme() == resource_manager.scheme();
    plain && safe && matches!(tracked.scheme(), "http" | "https") && tracked.host_str() == resource_manager.host_str()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect("test url")
    }

    fn app(id: &str, name: &str, state: &str, tracking: &str) -> App {
        App { id: id.into(), name: name.into(), state: Some(state.into()), tracking_url: Some(tracking.into()) }
    }

    #[test]
    fn no_application_is_an_answer_and_another_shape_is_not() {
        assert_eq!(parse(&json!({"apps": null})), Ok(vec![]));
        assert_eq!(parse(&json!({"apps": {}})), Ok(vec![]));
        assert!(parse(&json!({})).is_err());
        assert!(parse(&json!({"apps": {"app": [{"name": "x"}]}})).is_err());
    }

    #[test]
    fn names_are_exact() {
        let apps =
            [app("application_1_1", "orders-v2", "RUNNING", ""), app("application_1_2", "orders", "RUNNING", "")];
        assert_eq!(choose(&apps, "orders").map(|app| app.id.as_str()), Ok("application_1_2"));
        assert_eq!(choose(&apps, "Orders").expect_err("none").0, Cause::Unreachable);
    }

    #[test]
    fn two_of_one_name_are_not_guessed_among() {
        let apps = [app("application_1_1", "a", "RUNNING", ""), app("application_1_2", "a", "ACCEPTED", "")];
        let (cause, why) = choose(&apps, "a").expect_err("two");
        assert_eq!(cause, Cause::Disagreement);
        assert!(why.contains("application_1_1, application_1_2"), "{why}");
        assert_eq!(choose(&apps[1..], "a").expect_err("not started").0, Cause::TooYoung);
    }

    #[test]
    fn another_host_is_never_asked() {
        let rm = url("https://rm:8090/");
        let address = |tracking: &str| address(&rm, &app("application_1_2", "a", "RUNNING", tracking)).to_string();
        let own = "https://rm:8090/proxy/application_1_2/";
        assert_eq!(address("https://evil.example/proxy/application_1_2/"), own);
        assert_eq!(address("http://rm:8088/proxy/application_1_2/"), own, "no step down to plain HTTP");
        assert_eq!(address("https://u:p@rm:8090/x/"), own);
        assert_eq!(address("N/A"), own);
        assert_eq!(address("https://rm:9046/proxy/application_1_2/"), "https://rm:9046/proxy/application_1_2/");
    }
}
