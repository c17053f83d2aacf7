#!/usr/bin/env python3
"""A wfg worker over HTTP, Python alone. Takes WFG_URL, WFG_TOKEN, WORKER_ID, WORKER_LABELS=a,b; SIGTERM drains it."""
import atexit, itertools, json, os, re, signal, subprocess as sub, sys, tempfile, time, urllib.request as http, uuid
get, TTL, URL = os.environ.get, 30, os.environ.get("WFG_URL", "http://127.0.0.1:3000")
TOKEN = os.environ.pop("WFG_TOKEN", "")  # no job's business
HEADERS = {"content-type": "application/json", "authorization": f"Bearer {TOKEN}"}
ME = {"worker_id": get("WORKER_ID") or str(uuid.uuid4()), "labels": re.findall("[^,]+", get("WORKER_LABELS", ""))}
now = {"idle": False, "stopping": False}

def call(method, path, body=None):  # asks again while the server is away, has no database or too much to do
    for pause in itertools.chain((0.2, 0.5, 1), itertools.repeat(3)):
        try:
            asked = http.Request(URL + path, body and json.dumps(body).encode(), HEADERS, method=method)
            with http.urlopen(asked, timeout=60) as got: return got.status, json.loads(got.read() or "null")
        except OSError as why:  # refusals are among them
            if getattr(why, "code", 500) < 500 and why.code != 429: return why.code, why.read().decode()
        time.sleep(pause)

def leave():  # else it is shown as there for another 30 s
    try: http.urlopen(http.Request(f"{URL}/api/workers/{ME['worker_id']}", None, HEADERS, method="DELETE"), timeout=5)
    except OSError: pass

def execute(job, path):
    env = {**os.environ, "WFG_RUN_ID": job["run_id"], "WFG_JOB_ID": job["job_id"], "WFG_ATTEMPT": str(job["attempt"])}
    for name, values in job["upstream_outputs"].items():  # named as wfg's own workers do: WFG_OUT_<JOB>_<KEY>
        for key in values: env[re.sub(r"[^A-Z0-9_]", "_", f"WFG_OUT_{name}_{key}".upper())] = values[key]
    with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile("w") as script:
        script.write(job["command"]); script.flush()  # instead of `sh -c`, whose argument has a limit
        process = sub.Popen(["sh", script.name], cwd=folder, env=env, stdin=sub.DEVNULL, stdout=sub.PIPE,
                            stderr=sub.PIPE, bufsize=0, start_new_session=True)
        pipes, rest = {"stdout": process.stdout, "stderr": process.stderr}, {"stdout": b"", "stderr": b""}
        for pipe in pipes.values(): os.set_blocking(pipe.fileno(), False)
        numbers, outputs, tail, beat, cancelled = itertools.count(), {}, "", 0, False
        while pipes or process.poll() is None:
            chunks = []
            for stream, pipe in list(pipes.items()):
                data = pipe.read(60_000)  # None: nothing yet. While the server is away nobody reads, and the job waits
                rest[stream] += data or b""
                end = rest[stream].rfind(b"\n") + 1 if data != b"" and len(rest[stream]) < 60_000 else len(rest[stream])
                text, rest[stream] = rest[stream][:end].decode(errors="replace"), rest[stream][end:]
                if stream == "stdout": outputs.update(re.findall(r"^::set-output ([^=\n]+)=(.*)$", text, re.M))
                if text: chunks.append({"workflow_id": job["workflow_id"], "job_id": job["job_id"], "stream": stream,
                    "sequence": next(numbers), "timestamp_ms": int(time.time() * 1000), "data": text})
                if data == b"": del pipes[stream]
                tail = (tail + text)[-4096:]
            answers = [call("POST", f"{path}/logs", {"chunks": chunks})] if chunks else []
            if time.time() > beat + TTL / 6: beat = time.time(); answers.append(call("POST", f"{path}/heartbeat"))
            lost = any(status != 200 for status, _ in answers)
            cancelled = cancelled or not lost and any(answer.get("cancelled") for _, answer in answers)
            if lost or cancelled or process.poll() is not None:  # with all that it left in the background
                sub.run(["sh", "-c", f"kill -9 -{process.pid}"], stderr=sub.DEVNULL)
            if lost: return process.wait()  # nothing that is said of it counts any more
            time.sleep(0.1)
    if process.returncode == 0: call("POST", f"{path}/complete", {"outputs": outputs})
    else: call("POST", f"{path}/fail", {"error": f"exit code {process.returncode}: {tail}", "retryable": not cancelled})

for number in (signal.SIGTERM, signal.SIGINT):  # who goes while it waits is given no job
    signal.signal(number, lambda *_: sys.exit() if now["idle"] else now.update(stopping=True))
call("POST", "/api/workers/register", ME)
atexit.register(leave)
while not now["stopping"]:
    now["idle"] = True
    status, claimed = call("POST", "/api/jobs/claim", {**ME, "lease_ttl_secs": TTL, "wait_secs": 30})
    now["idle"] = False
    if status != 200: raise SystemExit(f"refused: {claimed}")
    if claimed: execute(claimed["job"], f"/api/jobs/{claimed['lease']['lease_id']}")
