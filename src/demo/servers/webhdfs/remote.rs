//! RemoteExceptions: how a NameNode says no, with the classes, statuses and texts of Hadoop 3.4.1.

use serde_json::json;

use crate::demo::servers::wire::Reply;

/// One refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    /// HTTP status.
    pub status: u16,
    /// Full Java class name; the part after the last dot or `$` is the `exception`.
    pub class: String,
    /// Message.
    pub message: String,
}

/// Known classes: simple name, package, status.
const CLASSES: [(&str, &str, u16); 21] = [
    ("FileNotFoundException", "java.io.", 404),
    ("IOException", "java.io.", 403),
    ("IllegalArgumentException", "java.lang.", 400),
    ("SecurityException", "java.lang.", 403),
    ("RuntimeException", "java.lang.", 500),
    ("HadoopIllegalArgumentException", "org.apache.hadoop.", 400),
    ("InvalidPathException", "org.apache.hadoop.fs.", 400),
    ("FileAlreadyExistsException", "org.apache.hadoop.fs.", 403),
    ("ParentNotDirectoryException", "org.apache.hadoop.fs.", 403),
    ("PathIsNotEmptyDirectoryException", "org.apache.hadoop.fs.", 403),
    ("AccessControlException", "org.apache.hadoop.security.", 403),
    ("AuthorizationException", "org.apache.hadoop.security.authorize.", 403),
    ("AuthenticationException", "org.apache.hadoop.security.authentication.client.", 401),
    ("StandbyException", "org.apache.hadoop.ipc.", 403),
    ("RetriableException", "org.apache.hadoop.ipc.", 403),
    ("SafeModeException", "org.apache.hadoop.hdfs.server.namenode.", 403),
    ("SnapshotException", "org.apache.hadoop.hdfs.protocol.", 403),
    ("SnapshotAccessControlException", "org.apache.hadoop.hdfs.protocol.", 403),
    ("NSQuotaExceededException", "org.apache.hadoop.hdfs.protocol.", 403),
    ("UnresolvedPathException", "org.apache.hadoop.hdfs.protocol.", 403),
    ("PathComponentTooLongException", "org.apache.hadoop.hdfs.protocol.FSLimitException$", 403),
];

impl Remote {
    /// A refusal of a known class; an unknown class is put into `java.io` and answered 403, as an `IOException` is.
    pub fn new(exception: &str, message: impl Into<String>) -> Self {
        let known = CLASSES.iter().find(|(name, _, _)| *name == exception);
        let (package, status) = known.map_or(("java.io.", 403), |(_, package, status)| (*package, *status));
        Self { status, class: format!("{package}{exception}"), message: message.into() }
    }

    /// The refusal on the wire.
    pub fn reply(&self) -> Reply {
        let exception = self.class.rsplit(['.', '$']).next().unwrap_or_default();
        let body = json!({
            "RemoteException": {
                "exception": exception, "javaClassName": self.class, "message": self.message,
            }
        });
        Reply::json(self.status, &body)
    }
}

/// No such path, in the words of GETFILESTATUS.
pub fn no_file(path: &str) -> Remote {
    Remote::new("FileNotFoundException", format!("File does not exist: {path}"))
}

/// No such path, in the words of a listing.
pub fn no_directory(path: &str) -> Remote {
    Remote::new("FileNotFoundException", format!("File {path} does not exist."))
}

/// Not the active NameNode. `category` is `READ` or `WRITE`.
pub fn standby(category: &str) -> Remote {
    let text = format!(
        "Operation category {category} is not supported in state standby. Visit https://s.apache.org/sbnn-error"
    );
    Remote::new("StandbyException", text)
}

/// Safe mode. `what` is what was tried, such as `delete /a`.
pub fn safe_mode(what: &str) -> Remote {
    let text = format!(
        "Cannot {what}. Name node is in safe mode.\nIt was turned on manually. Use \"hdfs dfsadmin -safemode leave\" to turn safe mode off. NamenodeHostName:localhost"
    );
    Remote::new("SafeModeException", text)
}

/// A parameter that cannot be used.
pub fn bad_parameter(name: &str, why: &str) -> Remote {
    Remote::new("IllegalArgumentException", format!("Invalid value for webhdfs parameter \"{name}\": {why}"))
}

/// A directory that snapshots hold.
pub fn has_snapshots(path: &str) -> Remote {
    let text =
        format!("The directory {path} cannot be deleted since {path} is snapshottable and already has snapshots");
    Remote::new("SnapshotException", text)
}

/// Impersonation refused. This one answer is laid out differently.
pub fn no_impersonation(user: &str, wanted: &str) -> Reply {
    let body = format!(
        "{{\n  \"RemoteException\" : {{\n    \"message\" : {},\n    \"exception\" : \"AuthorizationException\",\n    \"javaClassName\" : \"org.apache.hadoop.security.authorize.AuthorizationException\"\n  }}\n}}",
        json!(format!("User: {user} is not allowed to impersonate {wanted}"))
    );
    Reply::new(403, "application/json", body)
}

/// An error page of the web server around the NameNode.
pub fn html_page(status: u16) -> Reply {
    let body = format!(
        "<html>\n<head>\n<meta http-equiv=\"Content-Type\" content=\"text/html;charset=ISO-8859-1\"/>\n<title>Error {status}</title>\n</head>\n<body><h2>HTTP ERROR {status}</h2>\n</body>\n</html>\n"
    );
    Reply::new(status, "text/html;charset=iso-8859-1", body)
}
