//! Texts, and the values that `assignments` finds in them or leaves.

use super::*;

fn found(text: &str) -> Vec<&str> {
    let mut places = values(text.as_bytes(), false);
    places.sort_by_key(|place| (place.start, place.end));
    places.dedup();
    let found: Vec<&str> = places.into_iter().map(|place| &text[place]).collect();
    assert!(
        found.is_empty() || crate::text::triggers::suspects_as_is(text.as_bytes()),
        "{text}"
    );
    found
}

/// Texts, and the value that each of them names.
const NAMED: &[(&str, &str)] = &[
    ("password: hunter2, user: x", "hunter2"),
    ("DB_PASSWORD=hunter2;Host=a", "hunter2"),
    (r#"{"password":"hun ter2"}"#, "hun ter2"),
    (r#"{\"password\":\"a\\\"b\",\"x\":1}"#, r#"a\\\"b"#),
    (r#"{"pin":123456,"x":1}"#, "123456"),
    ("?a=1&token=abcdef&b=2", "abcdef"),
    ("?apikey=a1b&b=2", "a1b"),
    ("aws_secret_access_key = wJalrXUtnFEMI", "wJalrXUtnFEMI"),
    (r#""auth": "dXNlcg=="#, "dXNlcg=="),
    ("run --bot-token 1234567 now", "1234567"),
    ("run --token=12-34567 now", "12-34567"),
    ("run --password 'two words' now", "two words"),
    ("&X-Amz-Signature=abc123&x", "abc123"),
    ("&sig=abc123&x", "abc123"),
    ("passwd='it''", "it"),
    ("a: 1\ntoken: abcdef\nb: 2\n", "abcdef"),
    ("a: 1\npassword: two words # why\nb: 2\n", "two words"),
    ("a:\n  psk: 'x y'\n", "x y"),
    ("a: {token: abc1, b: 2}\n", "abc1"),
    (
        "a:\n- password: |\n    one\n\n    two\n  b: c\n",
        "one\n\n    two",
    ),
    ("secret: >-\n  one\nb: c\n", "one"),
    ("password:\n  one2\nb: c\n", "one2"),
    ("tokens:\n- one2\nb: c\n", "one2"),
    ("tokens: [one2, \"true\"]\n", "one2"),
    ("password:\n  value: one2\n", "one2"),
    (
        "- name: DB_PASSWORD\n  value: one2\n- name: A\n  value: b\n",
        "one2",
    ),
    (
        "- name: A\n  value: b\n- value: one2\n  name: DB_PASSWORD\n",
        "one2",
    ),
    (
        "- {name: DB_PASSWORD, required: true, value: one2}\n",
        "one2",
    ),
    (
        "- name: DB_PASSWORD\n  description: 'a b'\n  value: |\n    one2\n",
        "one2",
    ),
    ("[db]\nuser = a\npassword = one two\n", "one two"),
    ("db.user=a\ndb.password=one2\n", "one2"),
    ("machine h.example login bob password one-two", "one-two"),
    (
        "machine h.example\n  login bob\n  password onetwo\n",
        "onetwo",
    ),
    ("<a><password>one</password></a>", "one"),
    (
        "<a><x:apiKey type=\"s\"><![CDATA[o<e]]></x:apiKey></a>",
        "o<e",
    ),
    ("<user name=\"a\" password=\"one\"/>", "one"),
    ("<property name=\"password\" value=\"one\"/>", "one"),
    ("<entry key=\"password\">one</entry>", "one"),
    (
        "<property><name>a.password</name>\n<value>one</value></property>",
        "one",
    ),
    ("port 1\nrequirepass one2\n", "one2"),
    ("kind: Secret\ndata:\n  plain: b25l\ntype: Opaque\n", "b25l"),
    (
        "- apiVersion: v1\n  stringData:\n    a.b: |\n      one\n      two\n  kind: Secret\n- kind: Pod\n  data:\n    x: y\n",
        "one\n      two",
    ),
    ("kind: Secret\ndata: {a: b25l}\n", "a: b25l"),
    (
        "printf 'apiVersion: v1\\nkind: Secret\\nstringData:\\n  foo: one2\\n' | kubectl apply -f -",
        "one2",
    ),
    (
        "failed: \"apiVersion: v1\\nkind: Secret\\nstringData:\\n  foo: \\\"one 2\\\"\\n\"",
        "one 2",
    ),
    (
        "failed: {\"v\": \"kind: Secret\\ndata:\\n  foo: |\\n    one\\n    two\\nx: y\"}",
        "one\\n    two",
    ),
    (
        "a: \"data:\\\\n  foo: one2\\\\nkind: Secret\\\\n\"\nb:\n  data:\n    c: d\n",
        "one2",
    ),
    ("error: stringData:\\n  foo: one2\\nkind: Secret", "one2"),
    ("data:\n  foo: one2\nkind: Secret", "one2"),
    ("echo -e \"kind: Secret\\ndata:\\n  foo: one2\"", "one2\""),
    ("a: b\ntoken: not valid: one2\n", "not valid: one2"),
    ("a: b\nsecret: my dog Rex\n", "my dog Rex"),
    ("a: b\nsecret: my dog: Rex\n", "my dog: Rex"),
    ("a: b\npassword: my dog: Rex\n", "my dog: Rex"),
    ("export API_TOKEN=one2\n", "one2"),
    ("a:\n  password: 'abc''one'\nb: 'c'\n", "abc''one"),
    (
        "passphrase: two words\n  one\n\n  one2\nb: c\n",
        "two words\n  one\n\n  one2",
    ),
    ("- password: two\n    one # why\n    x\n", "two\n    one"),
    ("- name: DB_PASSWORD\n  # why\n  value: \"one2\"\n", "one2"),
    ("- name: DB_PASSWORD # why\n  value: one2\n", "one2"),
    ("args: [\"--client-secret\", \"one2\"]\n", "one2"),
    ("args: [--client-secret, one2, --x]\n", "one2"),
    ("run {\"args\":[\"--client-secret\",\"one2\"]}", "one2"),
    (
        "x: {\\\"args\\\":[\\\"--client-secret\\\", \\\"one2\\\"]}",
        "one2",
    ),
    ("args:\n- --client-secret\n- one2\n- --x\n", "one2"),
    (
        "args:\n  - \"--client-secret\"\n  # why\n  - 'one2' # x\n",
        "one2",
    ),
    ("passwords:\n- name: a\n  value: one2\n", "one2"),
    ("passwords:\n  - name: a\n    value: one2\n", "one2"),
    ("DB_PASSWORD=$'one2' ./x", "$'one2'"),
    ("PASSWORD=a'b'one2 ./x", "a'b'one2"),
    ("run PASSWORD=`one2` now", "one2"),
    ("export PASSWORD='it'\\''s one2'", "'it'\\''s one2'"),
    ("PASSWORD=\"a b\"one2 ./x", "\"a b\"one2"),
    ("run --password 'a'\"one2\" now", "'a'\"one2\""),
    (
        "db.password=abc\\\n   one\\\n   two\nb=c\n",
        "abc\\\n   one\\\n   two",
    ),
    ("db.password=\\\n   one2\nb=c\n", "\\\n   one2"),
    ("PASSWORD = '''one2'''", "one2"),
    ("PASSWORD = \"\"\"one2\"\"\"", "one2"),
    (
        "{apiVersion: v1, kind: Secret, stringData: {zz: one2}}",
        "one2",
    ),
    (
        r#"applied: {"kind":"Secret","stringData":{"zz":"one2"}} ok"#,
        "one2",
    ),
    ("password: Rex7 my dog", "Rex7 my dog"),
    ("password: my dog Rex7", "my dog Rex7"),
    ("password: my dog, user: x", "my dog"),
    ("password = my dog Rex7", "my dog Rex7"),
    ("{user: bob, password: Rex7 my dog}", "Rex7 my dog"),
    ("login failed, password: Rex7 my dog", "Rex7 my dog"),
    (
        "login with password: Rex7 my dog for user bob",
        "Rex7 my dog",
    ),
    ("login with password: my dog (1st try)", "my dog"),
    ("run app '--password=my dog' --x", "my dog"),
    ("run \"PASSWORD=my dog\" --x", "my dog"),
    ("run {\\\"x\\\":\\\"--password=my dog\\\"}", "my dog"),
    ("ARGS=\"--password=one2 --x=y\"", "one2"),
    ("run \"password=one2 host=y\"", "one2"),
    ("run --password=my\\ dog x", "my\\ dog"),
    ("app --password=Hd7x\\$Tq9Z -v", "Hd7x\\$Tq9Z"),
    ("app --password=\\$Hd7xTq9Z -v", "\\$Hd7xTq9Z"),
    ("app --password Hd7x\\;Tq9Z -v", "Hd7x\\;Tq9Z"),
    ("app --password Hd7x\\\"Tq9Z -v", "Hd7x\\\"Tq9Z"),
    ("app --password Hd7x'$'Tq9Z -v", "Hd7x'$'Tq9Z"),
    ("app --password $'Hd7x\\nTq9Z' -v", "$'Hd7x\\nTq9Z'"),
    ("run -e 'DB_PASSWORD=Hd7x&Tq9Z' app", "Hd7x&Tq9Z"),
    ("run -e 'DB_PASSWORD=Hd7x\"Tq9Z' app", "Hd7x\"Tq9Z"),
    ("helm --set 'db.password=Hd7x;Tq9Z'", "Hd7x;Tq9Z"),
    (
        "helm --set 'db.password=Hd7x'\"'\"'Tq9Z' --wait",
        "Hd7x'\"'\"'Tq9Z",
    ),
    (
        "helm --set 'db.password=Hd7x'\\''Tq9Z' --wait",
        "Hd7x'\\''Tq9Z",
    ),
    ("helm --set 'a=b,db.password=Hd7x;Tq9Z,c=d'", "Hd7x;Tq9Z"),
    ("app '--password=Hd7x<Tq9Z' -v", "Hd7x<Tq9Z"),
    ("app '--password=Hd7x`Tq9Z' -v", "Hd7x`Tq9Z"),
    ("\"?token=one2&x=y\"", "one2"),
    ("run \"PASSWORD=my dog host=y\"", "my dog"),
    ("UID=sa;PWD={4kQ!;rT2z;Lw};Encrypt=yes", "{4kQ!;rT2z;Lw"),
    ("run --password My\\ dog x", "My\\ dog"),
    ("bad \"users:\\n- user:\\n    token: one2\\n\"", "one2"),
    ("bad \"a: b\\r\\ntoken: my dog\\r\\n\"", "my dog"),
    (r#"bad \"a: b\\n\\tsecret: one2\\nc: d\""#, "one2"),
    ("bad 'a: b\\napiKey: one2'", "one2"),
    (
        "- op: replace\n  path: /spec/password\n  value: one2\n- op: remove\n  path: /a\n",
        "one2",
    ),
    (
        r#"[{\"op\":\"add\",\"path\":\"/metadata/annotations/acme.io~1api-token\",\"value\":\"one2\"}]"#,
        "one2",
    ),
    ("- value: one2\n  path: /password\n  op: add\n", "one2"),
    ("max_tokens: 4096\ntoken: one2\n", "one2"),
    ("MAX_TOKENS=4096 TOKEN=4096 ./x", "4096"),
    ("curl -H 'token: one2' https://x", "one2"),
    ("curl --header=\"apikey: one2\" x", "one2"),
    ("curl \\\n  -H 'x-auth: one2' \\\n  https://x\n", "one2"),
    ("a:\n  password: \"%9kQ!rT2zLw\"\n", "%9kQ!rT2zLw"),
    ("a:\n  password: '<8kQ!rT2zLw'\n", "<8kQ!rT2zLw"),
    ("a:\n  password: '[7kQ!rT2zLw'\n", "[7kQ!rT2zLw"),
    ("PGPASSWORD='{6kQ!rT2zLw' psql", "{6kQ!rT2zLw"),
    ("user=app password=%5kQ!rT2zLw dbname=x", "%5kQ!rT2zLw"),
    ("UID=sa;PWD={4kQ!rT2zLw};Encrypt=yes", "{4kQ!rT2zLw"),
    ("PASSWORD=<3kQ!rT2zLw ./x", "<3kQ!rT2zLw"),
    ("run --password=<3kQ!rT2zLw x", "<3kQ!rT2zLw"),
    ("a:\n  passwords:\n    alice: zq7Vx2\n", "zq7Vx2"),
    ("tokens:\n  ci:\n  - zq7Vx2\nb: c\n", "zq7Vx2"),
    ("password:\n  current: zq7Vx2\n", "zq7Vx2"),
    ("got {\"apiKeys\":{\"prod\":\"zq7Vx2\"}}", "zq7Vx2"),
    ("patch -p '{\"stringData\":{\"foo\":\"word\"}}'", "word"),
    ("a: {password: {value: word}}\n", "word"),
];

#[test]
fn values_are_found_where_they_are_named() {
    for (text, expected) in NAMED {
        assert_eq!(found(text), [*expected], "{text}");
    }
}

#[test]
fn in_a_command_every_word_behind_a_flag_is_its_value() {
    for (text, expected) in [
        ("app --password changeme", "changeme"),
        ("redis-server --requirepass changeme\n", "changeme"),
        ("app --token sunflower --x", "sunflower"),
        ("app --password abc", "abc"),
        ("app --no-password mydb", ""),
        ("oc whoami --show-token 2>/dev/null", ""),
        ("app --token | cat", ""),
        ("app --password $(cat /x)", ""),
        ("echo the flag --token must be set", ""),
    ] {
        let places = values(text.as_bytes(), true);
        let found: Vec<&str> = places.into_iter().map(|place| &text[place]).collect();
        assert_eq!(found.concat(), expected, "{text}");
    }
}

#[test]
fn prose_and_references_are_left() {
    for text in [
        "invalid password: incorrect",
        "secret \"pull-secret\" not found",
        "failed to get secret: it is gone",
        "invalid bearer token: token lookup failed",
        "the flag --token must be set",
        "password: $(PASSWORD)",
        "password={{ .Values.password }}",
        "\"token\": null",
        "secretName=1234567",
        "password: \"\"",
        "secretName: x2y\ntokenTTL: 10m\npublicKey: abc1\n",
        "tls:\n  key: /etc/tls/key.pem\n  secretName: x\n",
        "auth: oauth-openshift\nkey: value\n",
        "a:\n  secret:\n    secretName: abc1\n    items: [a]\n",
        "rules:\n- apiGroups: [\"\"]\n  resources: [secrets]\n  verbs: [get]\n",
        "kind: SecretList\ndata:\n  a: b\n",
        "failed: \"metadata:\\n  name: x2y\\nkind: Secret\\n\"",
        "failed: \"kind: ConfigMap\\ndata:\\n  a: x2y\\nref:\\n  kind: Secret\\n  name: x2y\\n\"",
        "<secretRef>one2</secretRef>",
        "http://token://x",
        "OAuthServerAvailable: no pods\nOAuthDegraded: x2y\n",
        "a: \"secret/node-kubeconfigs\": secret \"x2\" not found",
        "volume \"cloud-credential-operator-cert\" : secret \"x2\" not found\n",
        "exec run \\\n  --kubeconfig=/etc/kubernetes/static-pod-resources/configmaps/cert-syncer-kubeconfig/kubeconfig \\\n  --client-cert-auth=true \\\n",
        "X_KUBECONFIG=$CONF_DIR/whereabouts.kubeconfig\n",
        "the user authentication using keystone password credentials of x2",
        "run --privkey /ovn-cert/tls.key \\\n",
        "{\"signature\": \"https://a.example/x2y.sig\"}",
        "args: [\"--token-ttl\", \"x2y\", \"--token\", \"--x2y\"]\n",
        "the flags --password, --token, X2y and others",
        "args:\n- --token\n- --x2y\n- --password\n- $(PASSWORD)\nb:\n- x2y\n",
        "- name: DB_PASSWORD\n  # value: x2y\n- name: A\n  value: x2y\n",
        "passwords:\n- name: x2y\n  value: $(PASSWORD)\n",
        "TOKEN=`cat /run/x2y` ./x",
        "the variable `PASSWORD=` and `x2y`",
        "TOKEN=\"$(cat /run/a)\"'' ./x",
        "sh -c \"TOKEN=\\$(cat /x2y) PASSWORD=\\${X2Y} app --password \\$X_Y --token=\\$X_Y\"",
        "tls.key=\\\n  /etc/tls/key.pem\n",
        "password: null\n  x2y\n",
        "{kind: ConfigMap, data: {zz: x2y}}",
        "password: must contain 8 letters",
        "x failed\nauth: lookup oauth.svc on 10.96.0.10:53: no such host",
        "auth: lookup oauth.svc on 10.96.0.10:53: no such host\nx failed",
        "x failed:\\nauth: lookup oauth.svc on 10.96.0.10:53: no such host",
        "x failed:\\n- token: lookup failed: no such host\\n",
        "errors:\n- auth: Get \"https://a.example/x\": dial tcp 10.0.0.1:443: i/o timeout\n- secret: not found\n",
        "spec.password: Invalid value: must be set",
        "run \"--password=$(PASSWORD) x2y\"",
        "got \"token=invalid or expired\"",
        "bad \"users:\\n  token: expired\\n\"",
        "the folder C:\\new, invalid token: x2y",
        "max_tokens: 4096",
        "- path: /run/secrets/token\n  value: x2y\n",
        "- op: replace\n  path: /spec/replicas\n  value: x2y\n",
        "failed for volume \"session-secret\" : secret \"x2y\" not found",
        "controller \"oauth-token\": context deadline exceeded (x2y)",
        "exec: \"oauth\": executable file x2y not found",
        "secret \"pull-secret\": Forbidden: may not be x2y",
        "couldn't get 'kubeconfig': x2y is missing",
        "check \"token\": 500 x2y",
        "curl -H \"token: $TOKEN\" -H 'x-auth: $(X2Y)' x",
        "password: <your-password>",
        "password=<set to the key 'x' in secret 'y'>",
        "token=%s, secret=%q",
        "password: \"%(password)s\"\ntoken: '{token}'\nsecret: '[REDACTED]'\n",
        "password=%PASSWORD% run",
        "\"credentials\": \"{\\\"x\\\": 1}\"",
        "{\"tokens\": {\"ci\": {\"path\": \"x\"}}}",
        "token:\n  audience: x2y\n  path: x2y\n  expirationSeconds: 3607\n",
        "password:\n  secretKeyRef:\n    name: x2y\n    key: x2y\n",
        "password:\n  type: string\n  pattern: ^x2y$\n",
    ] {
        assert_eq!(found(text), Vec::<&str>::new(), "{text}");
    }
}
