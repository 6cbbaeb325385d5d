/** A scenario for svc evals made from a run: its cause, what would leave, and the file. */
import { Alert, Button, Group, Loader, Modal, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { RunDetail, ScenarioAsk, ScenarioPreview } from '../../../schemas/types.ts'
import { bytesText } from '../../lib/size.ts'
import { count } from '../../lib/time.ts'
import { useChange } from '../../lib/use-change.ts'
import { Refusal } from '../../parts/refusal.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { rkeys, runs } from '../../run-client.ts'

export function MakeScenario({ run }: { run: RunDetail }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Button variant="default" onClick={() => setOpen(true)}>
        Make a scenario…
      </Button>
      {isOpen && <ScenarioDialog run={run} onClose={() => setOpen(false)} />}
    </>
  )
}

const FROM: Record<ScenarioPreview['cause_from'], string> = {
  asked: 'as you said',
  mark: 'as the finding is marked',
  claims: 'as the claims that hold say',
  none: '',
}

/** Ids in a text, with spaces or commas between them. */
const idsIn = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean)

/** Names in a text, with commas between them. */
const namesIn = (text: string): string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean)

function ScenarioDialog({ run, onClose }: { run: RunDetail; onClose: () => void }) {
  const [cause, setCause] = useState('')
  const [keep, setKeep] = useState('')
  const [replace, setReplace] = useState('')
  const [isNone, setNone] = useState(false)
  // What is shown is what was asked for last; typing asks nothing.
  const [asked, setAsked] = useState<ScenarioAsk>({})
  const { data, error, isFetching } = useQuery({
    queryKey: [...rkeys.one(run.id), 'scenario', asked],
    queryFn: () => runs.previewScenario(run.id, { ...asked, check: false }),
    retry: false,
  })
  const download = useChange((ask: ScenarioAsk) => runs.downloadScenario(run.id, ask), {
    said: () => `Downloaded ${run.id}.scenario.json`,
    quiet: true,
  })
  const show = (none = isNone) =>
    setAsked({
      ...(none ? { causes: [] } : cause.trim() ? { causes: [idsIn(cause)] } : {}),
      ...(keep.trim() ? { keep: idsIn(keep) } : {}),
      ...(replace.trim() ? { replace: namesIn(replace) } : {}),
    })
  return (
    <Modal opened onClose={onClose} title="Make a scenario for svc evals" size="lg">
      <Stack>
        <Text size="sm" c="dimmed">
          The events that the run could read, up to the firing, with stand-ins for names. Nothing leaves svc
          before you download it.
        </Text>
        <form
          onSubmit={(event) => {
            event.preventDefault()
            show()
          }}
        >
          <Stack gap="sm">
            <Switch
              label="There was nothing to find"
              checked={isNone}
              onChange={(event) => {
                setNone(event.currentTarget.checked)
                show(event.currentTarget.checked)
              }}
            />
            <TextInput
              label="Events that show the cause"
              description="Ids, for example evt_42. Default: the mark, else claims that hold"
              value={cause}
              disabled={isNone}
              onChange={(event) => setCause(event.currentTarget.value)}
              data-autofocus
            />
            <TextInput
              label="Labels to keep"
              description="Optional. Their values are not replaced, for example region"
              value={keep}
              onChange={(event) => setKeep(event.currentTarget.value)}
            />
            <TextInput
              label="More names to replace"
              description="Optional, with commas between them. Names that only sentences have, for example Acme Ltd"
              value={replace}
              onChange={(event) => setReplace(event.currentTarget.value)}
            />
            <Group>
              <Button type="submit" variant="default" loading={isFetching}>
                Show what it holds
              </Button>
            </Group>
          </Stack>
        </form>
        {error ? <Failed what="events" error={error} /> : data ? <Shown preview={data} /> : <LoadingRows />}
        {data && data.cause_from !== 'none' && <Fitness run={run.id} asked={asked} />}
        <Refusal error={download.error} title="Couldn't make the scenario" />
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Close
          </Button>
          <Button
            leftSection={<Download size={15} aria-hidden />}
            disabled={!data || data.cause_from === 'none'}
            loading={download.isPending}
            onClick={() => download.mutate(asked)}
          >
            Download scenario
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

function Shown({ preview }: { preview: ScenarioPreview }) {
  const { causes, cause_from, events, kept, bytes, sources, replaced } = preview
  return (
    <Stack gap="xs" role="status">
      {cause_from === 'none' ? (
        <Alert color="yellow" title="No cause is known">
          Name the events that show it, or mark the finding first.
        </Alert>
      ) : (
        <Line title={causes.length ? `Cause, ${FROM[cause_from]}` : 'Cause'}>
          {causes.length === 0
            ? 'None: there was nothing to find'
            : causes.flat().map(({ id, text }) => (
                <div key={id} style={{ overflowWrap: 'anywhere' }}>
                  <span className="mono">{id}</span> {text}
                </div>
              ))}
        </Line>
      )}
      <Line title="Events">
        {count(events)}
        {kept < events && `, ${count(kept)} in the file: others of a wording stand for the rest`}:{' '}
        {sources.map(({ source, events: of }) => `${source} ${count(of)}`).join(', ')}
      </Line>
      <Line title="Size">{bytesText(bytes)}</Line>
      <Line title="Replaced by stand-ins">
        {replaced.length
          ? replaced.map(({ kind, names }) => `${kind}: ${count(names)}`).join(', ')
          : 'nothing. Names that appear only in text are not recognised'}
      </Line>
    </Stack>
  )
}

/** Whether the scenario is fit. Scripted agents run over it for that: what it holds does not wait for them. */
function Fitness({ run, asked }: { run: string; asked: ScenarioAsk }) {
  const { data, error } = useQuery({
    queryKey: [...rkeys.one(run), 'scenario', asked, 'checked'],
    queryFn: () => runs.previewScenario(run, asked),
    retry: false,
  })
  if (error) return <Failed title="Couldn’t check the scenario" error={error} />
  return (
    <div role="status" aria-label="Check">
      {!data ? (
        <Group gap="xs">
          <Loader size="xs" aria-hidden />
          <Text size="sm">Checking with scripted agents…</Text>
        </Group>
      ) : data.unfit.length > 0 ? (
        <Alert color="yellow" title="Can't tell agents apart yet">
          {data.unfit.map((why) => (
            <div key={why}>{why}</div>
          ))}
        </Alert>
      ) : (
        <Text size="sm">
          {data.checked === 'runs'
            ? 'Checked: tells good agents from bad ones'
            : 'Checked by guesses alone: too many events to run agents over'}
        </Text>
      )}
    </div>
  )
}

function Line({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div>
      <Text size="xs" c="dimmed" component="div">
        {title}
      </Text>
      <Text size="sm" component="div">
        {children}
      </Text>
    </div>
  )
}
