#!/bin/sh
# Starts Node with the secrets on a file descriptor instead of in the environment, because the processes of a user can read each other's
# environment in /proc. The images run it. shared/runtime/secrets.ts reads the descriptor.
set -eu
words='URL|ENDPOINT|KEY|HEADERS|PASSWORD|TOKEN|SECRET|CREDENTIALS'
names=$(env -0 | grep -zoE "^[A-Za-z_][A-Za-z0-9_]*($words)=" | tr -d '\0' | tr '=' ' ')
if [ -z "$names" ]; then
  exec /usr/bin/tini -- node "$@"
fi
# Base64, because a here-document cannot contain the null bytes between the variables.
secrets=$(env -0 | grep -zE "^[A-Za-z_][A-Za-z0-9_]*($words)=" | base64 -w0)
# Names of variables need no quotes.
unset $names
export SECRETS_FD=3
exec /usr/bin/tini -- node "$@" 3<<END
$secrets
END
