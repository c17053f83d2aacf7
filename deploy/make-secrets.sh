#!/bin/sh
# Makes the secrets that docker-compose.yml reads, in deploy/secrets or the folder given. What is there stays as it is.
set -eu
folder=${1:-$(dirname "$0")/secrets}
# Others are kept out by the folder; in a container a file is read by a user who need not exist here.
mkdir -p "$folder"
chmod 700 "$folder"

random() { od -An -N 24 -t x1 /dev/urandom | tr -d ' \n'; }

secret() {
  if [ -s "$folder/$1" ]; then return; fi
  printf '%s\n' "$2" >"$folder/$1"
  chmod 444 "$folder/$1"
  echo "made $folder/$1"
}

secret admin_token "$(random)"
secret database_password "$(random)"
secret database_url "postgres://wfg:$(cat "$folder/database_password")@postgres:5432/wfg"
