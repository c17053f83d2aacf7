#!/usr/bin/env bash
# A wfg worker over HTTP: bash and curl. Takes WFG_URL, WFG_TOKEN, WORKER_ID, WORKER_LABELS=a,b; SIGTERM drains it.
set -u
URL=${WFG_URL:-http://127.0.0.1:3000} ID=${WORKER_ID:-$HOSTNAME-$$} TTL=30
labels=${WORKER_LABELS:+\"${WORKER_LABELS//,/\",\"}\"}
me="\"worker_id\":\"$ID\",\"labels\":[$labels]"
folder=$(mktemp -d) stopping='' running=''
trap 'stopping=1' TERM INT
trap 'rm -rf "$folder"' EXIT

token() { printf 'header = "authorization: Bearer %s"\n' "${WFG_TOKEN-}"; } # out of sight of who lists processes

leave() { # else it is shown as there for another 30 s
  curl -s -m 5 -X DELETE -K <(token) "$URL/api/workers/$ID" >/dev/null
}

call() { # METHOD PATH BODY: sets STATUS and ANSWER; asks again while the server is away, or has no database
  local got
  until got=$(curl -sS -m 60 -X "$1" -K <(token) \
    -H 'content-type: application/json' -w '\n%{http_code}' --data-binary @- "$URL$2" <<<"${3-}" 2>/dev/null) &&
    STATUS=${got##*$'\n'} && ((STATUS < 500 && STATUS != 429)); do
    [ -n "$running" ] || [ -z "$stopping" ] || exit 0
    sleep 1
  done
  ANSWER=${got%$'\n'*}
}

field() { # NAME JSON: the first string of that name; a quote inside of a string stands behind a backslash
  local rest=${2#*"\"$1\":\""}
  rest=${rest//\\\\/$'\1'} rest=${rest//\\\"/$'\2'}
  rest=${rest%%\"*}
  rest=${rest//$'\2'/\"}
  printf '%b' "${rest//$'\1'/\\\\}"
}

quote() { # TEXT: sets REPLY to it as a string of JSON
  REPLY=${1//\\/\\\\}
  REPLY=${REPLY//\"/\\\"} REPLY=${REPLY//$'\n'/\\n} REPLY=${REPLY//$'\t'/\\t} REPLY=${REPLY//$'\r'/\\r}
  REPLY=\"${REPLY//[[:cntrl:]]/?}\"
}

take() { # LINE: that the job has printed
  local now output
  printf -v now '%(%s)T' -1
  quote "$1"$'\n'
  chunks+=",{$ids,\"sequence\":$((sequence++)),\"stream\":\"stdout\",\"timestamp_ms\":${now}000,\"data\":$REPLY}"
  tail+=$1$'\n'
  ((${#tail} <= 4096)) || tail=${tail: -4096}
  [[ $1 =~ ^::set-output\ ([^=]+)=(.*) ]] || return 0
  quote "${BASH_REMATCH[1]}" && output=$REPLY && quote "${BASH_REMATCH[2]}"
  outputs+=",$output:$REPLY"
}

push() { # what was printed since; a push may be repeated, since wfg compares the sequence
  [ -n "$chunks" ] || return 0
  call POST "$path/logs" "{\"chunks\":[${chunks#,}]}"
  chunks=
  [ "$STATUS" = 200 ] || lost=1
}

execute() { # CLAIMED
  local path ids pid code=0 retry=true lost='' line='' rest='' chunks='' outputs='' tail='' sequence=0 beat=0 pushed=$SECONDS
  path=/api/jobs/$(field lease_id "${1##*\"lease\":}")
  ids="\"workflow_id\":\"$(field workflow_id "$1")\",\"job_id\":\"$(field job_id "$1")\""
  rm -rf "${folder:?}"/*
  mkdir "$folder/work" && mkfifo "$folder/out"
  field command "$1" >"$folder/command" # instead of `sh -c`, whose argument has a limit
  rest=${1#*'"upstream_outputs":'}
  printf '%s' "${rest%%,\"enqueued_at_ms\"*}" >"$folder/upstream" && rest=
  set -m # the job is a process group of its own
  (unset WFG_TOKEN && cd "$folder/work" && WFG_UPSTREAM=$folder/upstream exec sh "$folder/command") </dev/null >"$folder/out" 2>&1 &
  pid=$!
  set +m
  exec 3<"$folder/out"
  while :; do
    if IFS= read -r -t 0.5 line <&3; then
      take "$rest$line"
      rest=
    elif (($? > 128)); then rest+=$line; else break; fi
    if ((SECONDS > pushed)); then
      push
      pushed=$SECONDS
    fi
    if ((SECONDS >= beat)); then
      call POST "$path/heartbeat"
      case $STATUS$ANSWER in 200*true*) retry=false ;; 200*) ;; *) lost=1 ;; esac
      beat=$((SECONDS + TTL / 6))
    fi
    if [ "$lost$retry" != true ] || ! kill -0 "$pid" 2>/dev/null; then
      kill -9 -- "-$pid" 2>/dev/null # with all that it left in the background
    fi
  done
  [ -z "$rest$line" ] || take "$rest$line"
  exec 3<&-
  wait "$pid" 2>/dev/null || code=$?
  push
  [ -z "$lost" ] || return 0 # nothing that is said of it counts any more
  quote "exit code $code: $tail"
  if ((code == 0)); then call POST "$path/complete" "{\"outputs\":{${outputs#,}}}"; fi
  if ((code != 0)); then call POST "$path/fail" "{\"error\":$REPLY,\"retryable\":$retry}"; fi
}

call POST /api/workers/register "{$me}"
trap 'leave; rm -rf "$folder"' EXIT
while [ -z "$stopping" ]; do
  call POST /api/jobs/claim "{$me,\"lease_ttl_secs\":$TTL,\"wait_secs\":5}"
  case $STATUS$ANSWER in
    200null) ;;
    200*) running=1 && execute "$ANSWER" && running= ;;
    *) echo "refused: $ANSWER" >&2 && exit 1 ;;
  esac
done
