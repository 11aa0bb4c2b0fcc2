//! A request as the server sees it: segments, parameters from query, form or multipart, and the token.

use std::collections::BTreeMap;

use axum::extract::{FromRequest as _, Multipart, Request};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, Method};
use percent_encoding::percent_decode_str;

/// Largest body read: an upload through the embedded server is a small test file.
const MAX_BODY: usize = 16 << 20;

/// A request, taken apart.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    /// Method.
    pub method: Method,
    /// Path as it came, not decoded.
    pub raw_path: String,
    /// Decoded segments below the context path; `None`: outside of it.
    pub segments: Option<Vec<String>>,
    /// Access token of the header `token`; empty counts as absent.
    pub token: Option<String>,
    /// Parameters by name (Spring's `@RequestParam` reads query and form alike).
    pub params: BTreeMap<String, String>,
    /// The uploaded file: its original name and its bytes.
    pub file: Option<(String, Vec<u8>)>,
}

impl Asked {
    /// Reads a request to its end; a body that cannot be read counts as no parameters, as a missing one would.
    pub async fn read(request: Request, context: &str) -> Self {
        let (parts, body) = request.into_parts();
        let mut asked = Self {
            method: parts.method.clone(),
            raw_path: parts.uri.path().to_owned(),
            segments: segments_below(parts.uri.path(), context),
            token: header(&parts.headers, "token"),
            ..Self::default()
        };
        asked.add_pairs(parts.uri.query().unwrap_or_default().as_bytes());
        let content_type = header(&parts.headers, CONTENT_TYPE.as_str()).unwrap_or_default();
        let request = Request::from_parts(parts, body);
        if content_type.starts_with("multipart/form-data") {
            asked.read_multipart(request).await;
        } else if content_type.starts_with("application/x-www-form-urlencoded") {
            let body = axum::body::to_bytes(request.into_body(), MAX_BODY).await.unwrap_or_default();
            asked.add_pairs(&body);
        }
        asked
    }

    fn add_pairs(&mut self, encoded: &[u8]) {
        for (name, value) in url::form_urlencoded::parse(encoded) {
            self.params.entry(name.into_owned()).or_insert_with(|| value.into_owned());
        }
    }

    async fn read_multipart(&mut self, request: Request) {
        let Ok(mut parts) = Multipart::from_request(request, &()).await else { return };
        while let Ok(Some(part)) = parts.next_field().await {
            let name = part.name().unwrap_or_default().to_owned();
            if let Some(file) = part.file_name().map(str::to_owned) {
                self.file = part.bytes().await.ok().map(|bytes| (file, bytes.to_vec()));
            } else {
                let value = part.text().await.unwrap_or_default();
                self.params.insert(name, value);
            }
        }
    }

    /// A parameter.
    pub fn param(&self, name: &str) -> Option<&str> {
        self.params.get(name).map(String::as_str)
    }

    /// A parameter that is a whole number.
    pub fn number(&self, name: &str) -> Option<i64> {
        self.param(name).and_then(|text| text.parse().ok())
    }
}

fn header(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn segments_below(path: &str, context: &str) -> Option<Vec<String>> {
    let rest = path.strip_prefix(context)?;
    if !rest.is_empty() && !rest.starts_with('/') {
        return None;
    }
    let decode = |part: &str| percent_decode_str(part).decode_utf8_lossy().into_owned();
    Some(rest.split('/').filter(|part| !part.is_empty()).map(decode).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_cut_before_they_are_decoded() {
        let cut = |path| segments_below(path, "/dolphinscheduler");
        assert_eq!(cut("/dolphinscheduler/resources/a%2Fb"), Some(vec!["resources".to_owned(), "a/b".to_owned()]));
        assert_eq!(cut("/dolphinschedulerX/resources"), None);
    }

    #[tokio::test]
    async fn parameters_come_from_query_form_and_multipart() {
        let body = "--x\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\na b\r\n--x\r\nContent-Disposition: form-data; \
                    name=\"file\"; filename=\"a.sh\"\r\n\r\necho\r\n--x--\r\n";
        let request = Request::post("/dolphinscheduler/resources?type=FILE")
            .header("content-type", "multipart/form-data; boundary=x")
            .header("token", "t")
            .body(axum::body::Body::from(body))
            .expect("a request");
        let asked = Asked::read(request, "/dolphinscheduler").await;
        assert_eq!((asked.param("type"), asked.param("name")), (Some("FILE"), Some("a b")));
        assert_eq!(asked.file, Some(("a.sh".to_owned(), b"echo".to_vec())));
        assert_eq!(asked.token.as_deref(), Some("t"));
    }
}
