/** Reports of svc evals that were published: kept for the console, the newest of them, as many as fit. */
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type {
  EvalReport,
  EvalReportHandedIn,
  EvalReportSummary,
  EvalReportsResult,
  ScenarioAsk,
  ScenarioFile,
  ScenarioPreview,
} from '../../../schemas/types.ts'
import type { Asked } from '../../calls.ts'
import type { Clock } from '../../clock.ts'
import { fail } from '../../errors.ts'
import type { StoreHandle } from '../../log/store/handle.ts'

/** Kept at most: reports, and bytes of all of them as they are stored. */
const REPORTS_MAX = 50
const REPORTS_BYTES_MAX = 100_000_000

/** A report as it crosses threads and is stored: megabytes are packed and unpacked by whoever has time for it. */
interface PackedReport {
  summary: ReportSummary
  /** Its JSON, as gzip. */
  bytes: Uint8Array
}

export interface EvalReportCalls {
  /** Newest first. */
  listEvalReports(): Promise<EvalReportsResult>
  /** @returns its JSON, as gzip. @throws SvcError not_found */
  getEvalReport(id: string): Promise<Uint8Array>
  /** Keeps a report, and forgets the oldest beyond what is kept. @param by name of who hands it in */
  handInEvalReport(report: PackedReport, by: string): Promise<EvalReportHandedIn>
  /** @throws SvcError not_found */
  deleteEvalReport(id: string): Promise<{ ok: true }>
}

interface Row {
  id: string
  seq: number
  handed_in_at: number
  handed_in_by: string
  summary: string
  bytes: number
}

export function createEvalReports(store: StoreHandle, clock: Clock): EvalReportCalls {
  const { db } = store
  const missing = (id: string) => fail('not_found', `no report of svc evals has the id ${id}`)
  const listed = () =>
    db
      .prepare<[], Row>(
        `SELECT id, seq, handed_in_at, handed_in_by, summary, length(report) AS bytes FROM eval_reports
         ORDER BY seq DESC`,
      )
      .all()
  return {
    listEvalReports: async () => ({ reports: listed().map(present) }),
    getEvalReport: async (id) => {
      const report = db
        .prepare<[string], Buffer>('SELECT report FROM eval_reports WHERE id = ?')
        .pluck()
        .get(id)
      return report ?? missing(id)
    },
    handInEvalReport: async ({ summary, bytes: packed }, by) => {
      const id = `eval_${randomBytes(8).toString('hex')}`
      if (packed.length > REPORTS_BYTES_MAX)
        fail('invalid', `the report has ${packed.length} bytes packed; at most ${REPORTS_BYTES_MAX} are kept`)
      store.tx(() => {
        db.prepare(
          `INSERT INTO eval_reports (id, seq, handed_in_at, handed_in_by, summary, report)
           VALUES (?, (SELECT coalesce(max(seq), 0) + 1 FROM eval_reports), ?, ?, ?, ?)`,
        ).run(id, clock.now(), by, JSON.stringify(summary), packed)
        let bytes = 0
        for (const [i, row] of listed().entries()) {
          bytes += row.bytes
          if (i > 0 && (i >= REPORTS_MAX || bytes > REPORTS_BYTES_MAX))
            db.prepare('DELETE FROM eval_reports WHERE id = ?').run(row.id)
        }
      })
      return { ok: true, id }
    },
    deleteEvalReport: async (id) => {
      const { changes } = store.tx(() => db.prepare('DELETE FROM eval_reports WHERE id = ?').run(id))
      return changes === 0 ? missing(id) : { ok: true }
    },
  }
}

type ReportSummary = Omit<EvalReportSummary, 'id' | 'handed_in_at' | 'handed_in_by' | 'bytes'>

const gzipAside = promisify(gzip)

/** Packs a report beside the caller's thread. */
export async function packReport(report: EvalReport): Promise<PackedReport> {
  return { summary: summaryOf(report), bytes: await gzipAside(JSON.stringify(report)) }
}

function summaryOf({ at, release, pack, noise, stopped, runs, measured }: EvalReport): ReportSummary {
  const scenarios = new Set([...runs.map(({ scenario }) => scenario), ...measured.map(({ id }) => id)])
  return {
    ...{ at, release, pack, noise, stopped, runs: runs.length, measured: measured.length },
    scenarios: scenarios.size,
    variants: [...new Set(runs.map(({ variant }) => variant))],
  }
}

const present = ({ id, handed_in_at, handed_in_by, summary, bytes }: Row): EvalReportSummary => ({
  ...{ id, handed_in_by, bytes },
  handed_in_at: new Date(handed_in_at).toISOString(),
  ...(JSON.parse(summary) as ReportSummary),
})

/* Scenarios made from runs, as callers see them. */

export interface ScenarioReads {
  /** What a scenario made from a run would hold. @throws SvcError not_found; invalid; conflict */
  previewScenario(run: string, asked: ScenarioAsk, by?: Asked): Promise<ScenarioPreview>
  /** The scenario itself, which leaves. @throws SvcError as of the preview, and invalid where no cause is said */
  scenarioOfRun(run: string, asked: ScenarioAsk, by?: Asked): Promise<ScenarioFile>
}
