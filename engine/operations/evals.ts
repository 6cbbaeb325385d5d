/** Reports of svc evals, handed in by the command and read by the console. */
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { packReport } from '../evals/reports.ts'
import { tagged } from './operation.ts'

const operation = tagged('evals')
/** Bytes of a report. */
const REPORT_MAX = 32 * 1024 * 1024

export const evals = [
  operation({
    id: 'listEvalReports',
    route: 'GET /api/evals/reports',
    scope: 'read',
    role: 'reader',
    answer: 'eval-reports-result.json',
    summary: 'Reports that were handed in, newest first',
    run: (engine) => engine.listEvalReports(),
  }),
  operation({
    id: 'getEvalReport',
    route: 'GET /api/evals/reports/{id}',
    scope: 'read',
    role: 'reader',
    answer: { schema: 'eval-report.json', write: promisify<Uint8Array, Uint8Array>(gunzip) },
    summary: 'One report, as it was handed in',
    run: (engine, { params }) => engine.getEvalReport(params.id),
  }),
  operation({
    id: 'handInEvalReport',
    route: 'POST /api/evals/reports',
    scope: 'admin',
    // Packed here: the writer has no time for megabytes.
    role: 'network',
    body: 'eval-report.json',
    bodyLimit: REPORT_MAX,
    answer: 'eval-report-handed-in.json',
    status: 201,
    summary: 'Hand in a report; the newest 50 are kept',
    run: async (engine, { body, caller }) => engine.handInEvalReport(await packReport(body), caller.name),
  }),
  operation({
    id: 'deleteEvalReport',
    route: 'DELETE /api/evals/reports/{id}',
    scope: 'admin',
    role: 'writer',
    answer: 'done.json',
    summary: 'Delete a report',
    run: (engine, { params }) => engine.deleteEvalReport(params.id),
  }),
]
