/** What PostgreSQL or the way to it says when it does not work, as a sentence that says what to do. */

/** SQLSTATE, PostgreSQL's Appendix A, and codes of the network. */
const SENTENCES: Readonly<Record<string, string>> = {
  '28P01': 'PostgreSQL refuses the password: correct user and password in dsn',
  '28000': 'PostgreSQL lets this user not connect: check pg_hba.conf and sslmode in dsn',
  '3D000': 'PostgreSQL has no such database: correct its name in dsn',
  '42501': 'the user of dsn may not read the table: GRANT SELECT on it (and USAGE on its schema)',
  '53300': 'PostgreSQL has no connection left: raise max_connections, or use a pooler',
  '57014': 'PostgreSQL took longer than 10 s: put an index on the cursor column and the primary key',
  '57P03': 'PostgreSQL is starting up or shutting down',
  '25006': 'PostgreSQL refused: the table cannot be read without writing',
  ECONNREFUSED:
    'PostgreSQL cannot be reached: connection refused; check host and port of dsn, and that it runs',
  ECONNRESET: 'PostgreSQL closed the connection',
  EPIPE: 'PostgreSQL closed the connection',
  ETIMEDOUT: 'PostgreSQL cannot be reached: check host and port of dsn, and firewalls between',
  EHOSTUNREACH: 'PostgreSQL cannot be reached: check host and port of dsn, and the network between',
  ENETUNREACH: 'PostgreSQL cannot be reached: check host and port of dsn, and the network between',
}
const TLS = /CERT|SELF_SIGNED|ISSUER|ALTNAME|ERR_TLS|ERR_SSL|EPROTO/
const SHOWN = 200

/** @param isCut the time of the poll was over. */
export function sentenceOf(error: unknown, isCut: boolean): string {
  if (isCut) return 'PostgreSQL gave no answer in time'
  const { code, message = '' } = error as { code?: unknown; message?: string }
  if (typeof code === 'string') {
    const known = SENTENCES[code]
    if (known) return known
    if (TLS.test(code))
      return `TLS with PostgreSQL failed (${code}): check sslmode in dsn and the certificate`
    if (/^[0-9A-Z]{5}$/.test(code)) return `PostgreSQL refused the query (${code}): ${oneLine(message)}`
    return `PostgreSQL cannot be reached (${code})`
  }
  if (/does not support SSL/.test(message))
    return 'PostgreSQL offers no TLS: correct sslmode in dsn, or switch TLS on'
  if (/timeout/i.test(message)) return 'PostgreSQL did not answer within 10 s: check host and port of dsn'
  return 'PostgreSQL ended the connection'
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').slice(0, SHOWN)
