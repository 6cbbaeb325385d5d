/** A catalog file imported: its problems and warnings where they are, its plan, then that plan or nothing. */
import { Alert, Anchor, Button, Checkbox, FileButton, Group, List, Stack, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Upload } from 'lucide-react'
import { Suspense, useRef, useState } from 'react'
import type { CatalogProblem, ChangePlan } from '../../../schemas/types.ts'
import { declared } from '../../declared-client.ts'
import { lazyFrom } from '../../lib/chunks.ts'
import { useChange } from '../../lib/use-change.ts'
import type { EditorPlace } from '../../parts/code-editor.tsx'
import { IngestKeysOnce } from '../../parts/ingest-keys.tsx'
import { NumberInput } from '../../parts/number-input.tsx'
import { PlanBacktestSection } from '../../parts/plan-backtest.tsx'
import { PlanView } from '../../parts/plan-view.tsx'
import { Refusal } from '../../parts/refusal.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'

const CodeEditor = lazyFrom(() => import('../../parts/code-editor.tsx'))('default')
const CHECKED = 'catalog-check'
/** What an import deletes at most unless it is told otherwise. */
const DELETIONS = 10

export function ImportTab() {
  const [yaml, setYaml] = useState('')
  const [file, setFile] = useState<string | null>(null)
  const [prune, setPrune] = useState(false)
  const [deletions, setDeletions] = useState(DELETIONS)
  const [why, setWhy] = useState('')
  const [settled] = useDebouncedValue(yaml, 400)
  const place = useRef<EditorPlace>(null)
  const queries = useQueryClient()
  const body = {
    yaml: settled,
    prune,
    ...(prune && deletions !== DELETIONS ? { max_deletions: deletions } : {}),
    ...(file ? { file } : {}),
  }
  const checked = useQuery({
    queryKey: [CHECKED, body],
    queryFn: () => declared.checkCatalog(body),
    enabled: settled.trim() !== '',
    staleTime: 0,
    gcTime: 0,
  })
  const { problems = [], warnings = [], plan, fingerprint, name } = checked.data ?? {}
  const apply = useChange(
    (approved: string) =>
      declared.importCatalog({ ...body, fingerprint: approved, ...(why.trim() ? { why: why.trim() } : {}) }),
    {
      said: ({ change_set }) =>
        change_set === null ? 'Nothing changed' : 'The catalog is imported; undo it under Changes',
      // The next text is another file, with a name, a reason and a bound of its own.
      onDone: () => {
        setYaml('')
        setFile(null)
        setWhy('')
        setPrune(false)
        setDeletions(DELETIONS)
      },
      quiet: true,
    },
  )
  const changes = plan && problems.length === 0 ? plan.creates + plan.updates + plan.deletes : 0
  const open = async (chosen: File | null) => {
    if (!chosen) return
    setYaml(await chosen.text())
    setFile(chosen.name)
  }
  const goTo = ({ line, column }: CatalogProblem) => place.current?.goTo(line, column)
  return (
    <Stack>
      <Group>
        <FileButton onChange={(chosen) => void open(chosen)} accept=".yaml,.yml,application/yaml">
          {(props) => (
            <Button {...props} variant="default" leftSection={<Upload size={16} aria-hidden />}>
              Open a file
            </Button>
          )}
        </FileButton>
        <Checkbox
          checked={prune}
          onChange={(event) => setPrune(event.currentTarget.checked)}
          label="Delete missing parts"
          description="Parts the file does not name"
        />
        {prune && (
          <NumberInput
            label="Delete at most"
            value={deletions}
            onChange={(value) => setDeletions(typeof value === 'number' ? value : DELETIONS)}
            min={0}
            max={100_000}
            allowDecimal={false}
            w={140}
          />
        )}
      </Group>
      {apply.data?.ingest_keys && <IngestKeysOnce keys={apply.data.ingest_keys} />}
      <Suspense fallback={<LoadingRows />}>
        <CodeEditor
          value={yaml}
          onChange={setYaml}
          language="yaml"
          label="Catalog file to import"
          problems={problems}
          place={place}
        />
      </Suspense>
      {checked.error && <Failed what="the check" error={checked.error} />}
      {problems.length > 0 && (
        <Alert
          color="red"
          title={`${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}; nothing is imported while there is one`}
          role="alert"
        >
          <Problems problems={problems} goTo={goTo} />
        </Alert>
      )}
      {warnings.length > 0 && (
        <Alert
          color="yellow"
          title={`${warnings.length} ${warnings.length === 1 ? 'warning' : 'warnings'}`}
          role="status"
        >
          <Problems problems={warnings} goTo={goTo} />
        </Alert>
      )}
      {plan && <Planned plan={plan} changes={changes} of={{ yaml: settled, prune }} />}
      <Refusal error={apply.error} title="Couldn’t import the file" />
      {fingerprint && changes > 0 && (
        <Group align="flex-end">
          <TextInput
            label="Why"
            placeholder="For the history"
            description={`The file is remembered as ${name}`}
            value={why}
            onChange={(e) => setWhy(e.currentTarget.value)}
            maxLength={500}
            style={{ flex: 1, maxWidth: 420 }}
          />
          <Button
            loading={apply.isPending}
            disabled={settled !== yaml || checked.isFetching}
            onClick={() =>
              apply.mutate(fingerprint, {
                // Refused because the instance changed since: the plan of now is shown instead.
                onError: () => void queries.invalidateQueries({ queryKey: [CHECKED] }),
              })
            }
          >
            Apply {changes} {changes === 1 ? 'change' : 'changes'}
          </Button>
        </Group>
      )}
    </Stack>
  )
}

interface PlannedProps {
  plan: ChangePlan
  changes: number
  of: { yaml: string; prune: boolean }
}

function Planned({ plan, changes, of }: PlannedProps) {
  return (
    <>
      <PlanView plan={plan} />
      {changes > 0 && <PlanBacktestSection key={`${of.prune} ${of.yaml}`} change={of} />}
    </>
  )
}

function Problems({
  problems,
  goTo,
}: {
  problems: readonly CatalogProblem[]
  goTo: (problem: CatalogProblem) => void
}) {
  return (
    <List size="sm">
      {problems.map((problem) => (
        <List.Item key={`${problem.line}:${problem.column}:${problem.message}`}>
          <Anchor component="button" type="button" size="sm" onClick={() => goTo(problem)}>
            Line {problem.line}
          </Anchor>
          : {problem.path && <span className="mono">{problem.path}</span>} {problem.message}
        </List.Item>
      ))}
    </List>
  )
}
