-- Who may use the api: tokens, and the sessions of browsers. Neither stands here itself, only its SHA-256.
-- While wfg_tokens has a row, also a revoked one, the api asks everyone for a token.
create table wfg_tokens (
  id uuid primary key default wfg_uuid7(),
  name text not null unique,
  role text not null constraint known_role check (role in ('admin')),
  hash bytea not null unique check (octet_length(hash) = 32),
  created_at timestamptz not null default wfg_now(),
  last_used_at timestamptz,
  revoked_at timestamptz
);
comment on column wfg_tokens.hash is 'SHA-256 of the token';
comment on column wfg_tokens.last_used_at is 'to the minute, and not through sessions';

-- A session belongs to the token as it was when it began: one whose token was changed belongs to none, for good.
create table wfg_sessions (
  hash bytea primary key check (octet_length(hash) = 32),
  token_hash bytea references wfg_tokens (hash) on update set null on delete cascade,
  created_at timestamptz not null default wfg_now(),
  expires_at timestamptz not null
);
create index wfg_sessions_of_token on wfg_sessions (token_hash);
