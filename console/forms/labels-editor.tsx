/** The labels of a source: a row each, the entity key marked, fields suggested from a sample. */
import {
  ActionIcon,
  Autocomplete,
  Button,
  Group,
  Paper,
  Radio,
  SegmentedControl,
  Select,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import { Plus, Trash2 } from 'lucide-react'
import type { FaultMark } from '../lib/field-errors.ts'
import { Tooltip } from '../parts/tooltip.tsx'
import { emptyLabel, type LabelDraft } from './label-drafts.ts'

interface Props {
  value: LabelDraft[]
  onChange: (labels: LabelDraft[]) => void
  /** Field names to suggest. */
  fields: string[]
  /** What a label makes of the sample, by its name. */
  preview: Record<string, string>
  /** What is wrong: `labels[0].pattern` and the like. */
  marks: (path: string) => FaultMark
}

export function LabelsEditor({ value, onChange, fields, preview, marks }: Props) {
  // Rows without a name are not sent: the daemon counts the others.
  const sent = value.filter(({ name }) => name.trim() !== '')
  const change = (id: number, next: Partial<LabelDraft>) =>
    onChange(
      value.map((draft) =>
        draft.id === id ? { ...draft, ...next } : next.primary ? { ...draft, primary: false } : draft,
      ),
    )
  return (
    <Stack gap="xs">
      <div>
        <Text fw={600} size="sm">
          Labels
        </Text>
        <Text size="xs" c="dimmed">
          Labels put each event on a timeline. The entity key says whose: a service, an order, a host. Dots
          reach nested fields.
        </Text>
      </div>
      {value.map((draft, i) => (
        <LabelRow
          key={draft.id}
          draft={draft}
          index={i}
          fields={fields}
          mark={(field) => marks(`labels[${sent.indexOf(draft)}].${field}`)}
          preview={preview[draft.name]}
          onChange={(next) => change(draft.id, next)}
          onRemove={() => onChange(value.filter((other) => other.id !== draft.id))}
        />
      ))}
      <Group>
        <Button
          size="xs"
          variant="default"
          leftSection={<Plus size={14} aria-hidden />}
          onClick={() => onChange([...value, emptyLabel(value.length === 0)])}
        >
          Add a label
        </Button>
      </Group>
    </Stack>
  )
}

function LabelRow({
  draft,
  index,
  fields,
  mark,
  preview,
  onChange,
  onRemove,
}: {
  draft: LabelDraft
  index: number
  fields: string[]
  mark: Mark
  preview: string | undefined
  onChange: (next: Partial<LabelDraft>) => void
  onRemove: () => void
}) {
  const n = index + 1
  return (
    <Paper withBorder p="xs" radius="md" role="group" aria-label={`Label ${n}`}>
      <Group gap="xs" align="flex-end" wrap="wrap">
        <TextInput
          label="Name"
          placeholder="service"
          value={draft.name}
          onChange={(event) => onChange({ name: event.currentTarget.value })}
          {...mark('name')}
          error={
            draft.name && !/^[A-Za-z0-9_]{1,64}$/.test(draft.name)
              ? 'Letters, digits, underscores'
              : mark('name').error
          }
          w={150}
          size="xs"
        />
        <LabelValue n={n} draft={draft} fields={fields} mark={mark} onChange={onChange} />
        <Select
          label="Type"
          size="xs"
          w={100}
          data={['string', 'number']}
          value={draft.type}
          allowDeselect={false}
          onChange={(type) => onChange({ type: type as 'string' | 'number' })}
        />
        <Radio
          size="xs"
          pb={8}
          label="Entity key"
          checked={draft.primary}
          disabled={draft.type === 'number'}
          onChange={() => onChange({ primary: true })}
        />
        <LabelPattern draft={draft} mark={mark} onChange={onChange} />
        <Tooltip label="Remove">
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Remove label ${n}`}
            onClick={onRemove}
            mb={2}
          >
            <Trash2 size={15} aria-hidden />
          </ActionIcon>
        </Tooltip>
      </Group>
      {preview !== undefined && (
        <Text size="xs" c="dimmed" mt={4}>
          {preview}
        </Text>
      )}
    </Paper>
  )
}

type Mark = (field: string) => FaultMark

interface PartProps {
  draft: LabelDraft
  mark: Mark
  onChange: (next: Partial<LabelDraft>) => void
}

/** A field of the payload, or the same for every event. */
function LabelValue({ n, draft, fields, mark, onChange }: PartProps & { n: number; fields: string[] }) {
  return (
    <>
      <SegmentedControl
        size="xs"
        aria-label={`Label ${n}: where its value comes from`}
        value={draft.kind}
        onChange={(kind) => onChange({ kind: kind as 'field' | 'const' })}
        data={[
          { value: 'field', label: 'Field' },
          { value: 'const', label: 'Fixed' },
        ]}
      />
      {draft.kind === 'field' ? (
        <Autocomplete
          label="Payload field"
          {...mark('field')}
          placeholder="service.name"
          data={fields}
          value={draft.value}
          onChange={(field) => onChange({ value: field })}
          w={210}
          size="xs"
        />
      ) : (
        <TextInput
          label="Fixed value"
          {...mark('const')}
          placeholder="prod"
          value={draft.value}
          onChange={(event) => onChange({ value: event.currentTarget.value })}
          w={210}
          size="xs"
        />
      )}
    </>
  )
}

/** What of the field's text is the value. */
function LabelPattern({ draft, mark, onChange }: PartProps) {
  return (
    <>
      {draft.kind === 'field' && (
        <TextInput
          label="Pattern (RE2)"
          {...mark('pattern')}
          placeholder="optional"
          value={draft.pattern}
          onChange={(event) => onChange({ pattern: event.currentTarget.value })}
          w={140}
          size="xs"
        />
      )}
      {draft.pattern && (
        <TextInput
          label="Replace with"
          {...mark('replace')}
          placeholder="$1"
          value={draft.replace}
          onChange={(event) => onChange({ replace: event.currentTarget.value })}
          w={110}
          size="xs"
        />
      )}
    </>
  )
}
