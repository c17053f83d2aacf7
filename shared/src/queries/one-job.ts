// Statements about many jobs that may be about one of them, for when it is not known which of the many they fail of.

/** As SQL: `j` is the job whose key is $2 and $3; every job is, if they are null. */
export const ONLY = `($2::uuid is null or j.run_id = $2 and j.position = $3::int)`;

/** The statement that reads the keys of $1 jobs `j` which meet `condition`, behind the key $2 and $3, if it is not null. */
export function findJobs(condition: string): string {
  return `
select j.run_id, j.position from wfg_jobs j
where ${condition} and ($2::uuid is null or (j.run_id, j.position) > ($2, $3::int))
order by j.run_id, j.position
limit $1::int`;
}
