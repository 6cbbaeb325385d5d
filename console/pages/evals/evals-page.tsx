/** Reports of svc evals: those published to the daemon, or one opened from a file, which stays in the browser. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { FileUp } from 'lucide-react'
import { type ChangeEvent, useRef, useState } from 'react'
import { Link, useSearchParams } from 'react-router'
import { callerText } from '../../../schemas/caller-words.ts'
import type { EvalReport, EvalReportSummary } from '../../../schemas/types.ts'
import { ekeys, evals } from '../../eval-client.ts'
import { readReportFile } from '../../lib/evals.ts'
import { bytesText } from '../../lib/size.ts'
import { count } from '../../lib/time.ts'
import { useChange } from '../../lib/use-change.ts'
import { CopyBlock } from '../../parts/copy.tsx'
import { Acts } from '../../parts/may.tsx'
import { PageHead } from '../../parts/page.tsx'
import { Cell, Row, RowLink, Rows } from '../../parts/rows.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { LIST_FRESH_MS } from '../../parts/use-pages.ts'
import { When } from '../../parts/when.tsx'
import { ReportView } from './report-view.tsx'

interface Opened {
  name: string
  report: EvalReport
}

export default function EvalsPage() {
  const [address, setAddress] = useSearchParams()
  const id = address.get('report')
  const [opened, setOpened] = useState<Opened | null>(null)
  const [fault, setFault] = useState<Error | null>(null)
  const open = (file: Opened) => {
    setFault(null)
    setOpened(file)
    setAddress({}, { replace: id === null })
  }
  return (
    <>
      <PageHead title="Evals">
        <OpenFile onOpen={open} onFault={setFault} />
      </PageHead>
      <Stack>
        {fault && <Failed what="reports" error={fault} />}
        {id ? (
          <HandedIn id={id} />
        ) : opened ? (
          <>
            <Group>
              <Button variant="default" size="compact-sm" onClick={() => setOpened(null)}>
                All reports
              </Button>
              <Text size="sm" c="dimmed">
                {opened.name}, opened from a file, which stays in this browser
              </Text>
            </Group>
            <ReportView report={opened.report} />
          </>
        ) : (
          <ReportList />
        )}
      </Stack>
    </>
  )
}

function OpenFile({ onOpen, onFault }: { onOpen: (file: Opened) => void; onFault: (error: Error) => void }) {
  const input = useRef<HTMLInputElement>(null)
  const read = async (event: ChangeEvent<HTMLInputElement>) => {
    const file = event.currentTarget.files?.[0]
    // The same file can be chosen again after it was mended.
    event.currentTarget.value = ''
    if (!file) return
    try {
      onOpen({ name: file.name, report: readReportFile(await file.text()) })
    } catch (error) {
      onFault(error as Error)
    }
  }
  return (
    <>
      <input
        ref={input}
        type="file"
        accept="application/json,.json"
        hidden
        aria-label="Report file"
        onChange={(event) => void read(event)}
      />
      <Button
        variant="default"
        leftSection={<FileUp size={15} aria-hidden />}
        onClick={() => input.current?.click()}
      >
        Open a file
      </Button>
    </>
  )
}

function HandedIn({ id }: { id: string }) {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ekeys.one(id),
    queryFn: () => evals.one(id),
  })
  return (
    <>
      <Group>
        <Button component={Link} to="/evals" variant="default" size="compact-sm">
          All reports
        </Button>
      </Group>
      {isPending && <LoadingRows />}
      {error && <Failed what="reports" error={error} onRetry={() => void refetch()} />}
      {data && <ReportView report={data} id={id} />}
    </>
  )
}

function ReportList() {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ekeys.list,
    queryFn: evals.list,
    refetchInterval: LIST_FRESH_MS,
  })
  const queries = useQueryClient()
  const remove = useChange((id: string) => evals.remove(id), {
    failed: 'Couldn’t delete the report',
    said: () => 'Report deleted',
    onDone: () => void queries.invalidateQueries({ queryKey: ekeys.list }),
  })
  if (isPending) return <LoadingRows />
  if (error) return <Failed what="reports" error={error} onRetry={() => void refetch()} />
  if (data.reports.length === 0) return <NoReports />
  return (
    <Rows
      label="Reports"
      columns={[
        { name: 'Report', isHead: true },
        'Pack',
        'Scenarios',
        'Runs',
        'Published by',
        'Size',
        { name: 'Delete', isUnnamed: true },
      ]}
    >
      {data.reports.map((report) => (
        <Row key={report.id}>
          <Cell>
            <RowLink to={`/evals?report=${report.id}`}>
              <When at={report.at} />
            </RowLink>
            <Text size="xs" c="dimmed">
              {agentsOf(report)}
            </Text>
          </Cell>
          <Cell>
            {report.pack}, svc {report.release}
            {report.stopped && ', stopped early'}
          </Cell>
          <Cell>{count(report.scenarios)}</Cell>
          <Cell>{report.runs ? count(report.runs) : 'first messages only'}</Cell>
          <Cell>{callerText(report.handed_in_by)}</Cell>
          <Cell>{bytesText(report.bytes)}</Cell>
          <Cell>
            <Acts>
              <Button
                size="compact-xs"
                variant="subtle"
                color="red"
                loading={remove.isPending && remove.variables === report.id}
                aria-label={`Delete the report of ${report.at}`}
                onClick={() => remove.mutate(report.id)}
              >
                Delete
              </Button>
            </Acts>
          </Cell>
        </Row>
      ))}
    </Rows>
  )
}

/** Agents that are no scripts, by name. */
function agentsOf({ variants }: EvalReportSummary): string {
  const models = variants.filter((name) => !name.startsWith('script '))
  return models.length ? models.join(', ') : variants.length ? 'scripted agents' : ''
}

function NoReports() {
  return (
    <Empty title="No report yet">
      <Text c="dimmed" maw={560}>
        A report says how good agents are at finding causes that are known. Publish one from the command line,
        or open a file that --out wrote.
      </Text>
      <CopyBlock value="svc evals run --scripted --noise 1000 --publish" label="Copy the command" />
    </Empty>
  )
}
