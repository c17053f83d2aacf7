#!/bin/sh
# Makes the secrets that docker-compose.yml reads, in deploy/secrets. What is already there stays as it is.
set -eu
cd "$(dirname "$0")"
# Others are kept out by the folder; in a container a file is read by a user who need not exist here.
mkdir -p -m 700 secrets

random() { od -An -N 24 -t x1 /dev/urandom | tr -d ' \n'; }

secret() {
  [ -s "secrets/$1" ] && return
  printf '%s\n' "$2" >"secrets/$1"
  chmod 444 "secrets/$1"
  echo "made deploy/secrets/$1"
}

secret admin_token "$(random)"
secret database_password "$(random)"
secret database_url "postgres://wfg:$(cat secrets/database_password)@postgres:5432/wfg"
