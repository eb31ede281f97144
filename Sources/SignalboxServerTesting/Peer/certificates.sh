# Makes a certificate authority and the certificates of the tests, in the given directory. One key for all servers:
# only names, dates and issuers matter to the tests, and making keys takes time.
set -eu
cd "$1"

key() { openssl ecparam -genkey -noout -name prime256v1 -out "$1.key"; }
# name, subject, issuer, days, extensions
sign() {
    printf '%s\n' "$5" >"$1.ext"
    openssl req -new -key "$6.key" -subj "$2" |
        openssl x509 -req -CA "$3.pem" -CAkey "$3.key" -CAcreateserial -days "$4" -extfile "$1.ext" -out "$1.pem"
}
authority() { openssl req -new -x509 -key "$1.key" -subj "/CN=$2" -days 2 -addext basicConstraints=critical,CA:TRUE -out "$1.pem"; }

key ca && key stranger && key intermediate && key server && key client
authority ca "Test authority"
authority stranger "Another authority"
here='subjectAltName=DNS:localhost,IP:127.0.0.1'
sign good /CN=good ca 2 "$here" server
sign other-name /CN=other-name ca 2 'subjectAltName=DNS:other.example' server
sign name-in-subject-only /CN=localhost ca 2 extendedKeyUsage=serverAuth server
sign expired /CN=expired ca -1 "$here" server
sign unknown-issuer /CN=unknown stranger 2 "$here" server
openssl req -new -x509 -key server.key -subj /CN=self -days 2 -addext "$here" -out self-signed.pem
sign intermediate "/CN=Intermediate" ca 2 basicConstraints=critical,CA:TRUE intermediate
sign incomplete /CN=leaf intermediate 2 "$here" server
cat incomplete.pem intermediate.pem >chain.pem
cat incomplete.pem ca.pem intermediate.pem >chain-out-of-order.pem
sign client /CN=gateway ca 2 extendedKeyUsage=clientAuth client
cat client.pem client.key >client-with-key.pem
sign client-of-stranger /CN=gateway stranger 2 extendedKeyUsage=clientAuth client
openssl pkey -in server.key -pubout -outform der | openssl dgst -sha256 -binary | openssl base64 -A >server.pin
