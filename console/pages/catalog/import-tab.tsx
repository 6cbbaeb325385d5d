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
import { Acts } from '../../parts/may.tsx'
import { NumberInput } from '../../parts/number-input.tsx'
import { PlanBacktestSection } from '../../parts/plan-backtest.tsx'
import { PlanView } from '../../parts/plan-view.tsx'
import { Refusal } from '../../parts/refusal.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'

const CodeEditor = lazyFrom(() => import('../../parts/code-editor.tsx'))('default')
const CHECKED = 'catalog-check'
/** What an import deletes at most unless it is told otherwise. */
const DELETIONS = 10

const BLANK = { yaml: '', file: null as string | null, prune: false, deletions: DELETIONS, why: '' }
/** As it was left for another tab or page. Nowhere but in memory: what is typed may hold secrets. */
let left = BLANK

export function ImportTab() {
  const [form, setForm] = useState(left)
  const { yaml, file, prune, deletions, why } = form
  const set = (some: Partial<typeof BLANK>): void => {
    left = { ...left, ...some }
    setForm(left)
  }
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
      onDone: () => set(BLANK),
      quiet: true,
    },
  )
  const changes =
    plan && problems.length === 0
      ? plan.creates + plan.updates + plan.deletes + (plan.ownership?.length ?? 0)
      : 0
  const open = async (chosen: File | null) => {
    if (!chosen) return
    set({ yaml: await chosen.text(), file: chosen.name })
  }
  const goTo = ({ line, column }: CatalogProblem) => place.current?.goTo(line, column)
  return (
    <Stack>
      <ImportOptions
        onFile={(chosen) => void open(chosen)}
        prune={prune}
        onPrune={(next) => set({ prune: next })}
        deletions={deletions}
        onDeletions={(next) => set({ deletions: next })}
      />
      {apply.data?.ingest_keys && <IngestKeysOnce keys={apply.data.ingest_keys} />}
      <Suspense fallback={<LoadingRows />}>
        <CodeEditor
          value={yaml}
          onChange={(next) => set({ yaml: next })}
          language="yaml"
          label="Catalog file to import"
          problems={problems}
          place={place}
        />
      </Suspense>
      {checked.error && <Failed what="the check" error={checked.error} />}
      <Found what="problem" color="red" found={problems} goTo={goTo} />
      <Found what="warning" color="yellow" found={warnings} goTo={goTo} />
      {plan && <Planned plan={plan} changes={changes} of={{ yaml: settled, prune }} />}
      <Refusal error={apply.error} title="Couldn’t import the file" />
      {fingerprint && changes > 0 && (
        <Acts says>
          <Group align="flex-end">
            <WhyInput file={name} value={why} onChange={(next) => set({ why: next })} />
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
        </Acts>
      )}
    </Stack>
  )
}

interface ImportOptionsProps {
  onFile: (chosen: File | null) => void
  prune: boolean
  onPrune: (prune: boolean) => void
  deletions: number
  onDeletions: (most: number) => void
}

function ImportOptions({ onFile, prune, onPrune, deletions, onDeletions }: ImportOptionsProps) {
  return (
    <Group>
      <FileButton onChange={onFile} accept=".yaml,.yml,application/yaml">
        {(props) => (
          <Button {...props} variant="default" leftSection={<Upload size={16} aria-hidden />}>
            Open a file
          </Button>
        )}
      </FileButton>
      <Checkbox
        checked={prune}
        onChange={(event) => onPrune(event.currentTarget.checked)}
        label="Delete missing parts"
        description="Parts the file does not name"
      />
      {prune && (
        <NumberInput
          label="Delete at most"
          value={deletions}
          onChange={(value) => onDeletions(typeof value === 'number' ? value : DELETIONS)}
          min={0}
          max={100_000}
          allowDecimal={false}
          w={140}
        />
      )}
    </Group>
  )
}

function WhyInput(of: { file: string | undefined; value: string; onChange: (why: string) => void }) {
  return (
    <TextInput
      label="Why"
      placeholder="For the history"
      description={`The file is remembered as ${of.file}`}
      value={of.value}
      onChange={(event) => of.onChange(event.currentTarget.value)}
      maxLength={500}
      style={{ flex: 1, maxWidth: 420 }}
    />
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

interface FoundProps {
  what: 'problem' | 'warning'
  color: string
  found: readonly CatalogProblem[]
  goTo: (problem: CatalogProblem) => void
}

/** Problems or warnings of the file, each leading to its line. */
function Found({ what, color, found, goTo }: FoundProps) {
  if (found.length === 0) return null
  const isProblem = what === 'problem'
  const counted = `${found.length} ${what}${found.length === 1 ? '' : 's'}`
  return (
    <Alert
      color={color}
      title={isProblem ? `${counted}; nothing is imported while there is one` : counted}
      role={isProblem ? 'alert' : 'status'}
    >
      <List size="sm">
        {found.map((problem) => (
          <List.Item key={`${problem.line}:${problem.column}:${problem.message}`}>
            <Anchor component="button" type="button" size="sm" onClick={() => goTo(problem)}>
              Line {problem.line}
            </Anchor>
            : {problem.path && <span className="mono">{problem.path}</span>} {problem.message}
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}
