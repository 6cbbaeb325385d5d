/** Filters: rows of field, operator and value. */
import {
  ActionIcon,
  Autocomplete,
  Button,
  Group,
  Select,
  Stack,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core'
import { Plus, Trash2 } from 'lucide-react'
import { type FieldErrors, faultAt } from '../../lib/field-errors.ts'
import { EMPTY_FILTER, FILTER_OPS, type FilterOp, type FilterRow } from '../../lib/trigger-draft.ts'

interface Props {
  rows: readonly FilterRow[]
  onChange: (rows: FilterRow[]) => void
  /** Fields there are, to pick from. */
  known: readonly string[]
  /** Words that tell these filters from others on the page, such as "of step 1". */
  of?: string
  errors: FieldErrors
  /** Path of the filters in what is sent. */
  path: string
  title?: string
  /** They follow in a sentence: "where", then "and". */
  isSentence?: boolean
}

export function FilterRows({ rows, onChange, known, of = '', errors, path, title, isSentence }: Props) {
  const put = (at: number, change: Partial<FilterRow>) =>
    onChange(rows.map((row, i) => (i === at ? { ...row, ...change } : row)))
  const nameOf = (i: number) => `filter ${i + 1}${of && ` ${of}`}`
  return (
    <Stack gap="xs">
      {title && (
        <Text fw={600} size="sm">
          {title}
        </Text>
      )}
      {rows.map((row, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their place.
        <Stack key={i} gap={2} data-field={`${path}[${i}]`}>
          <div className={isSentence ? 'filter-row filter-row-said' : 'filter-row'}>
            {isSentence && <span className="sentence-words">{i === 0 ? 'where' : 'and'}</span>}
            <Autocomplete
              aria-label={`Field of ${nameOf(i)}`}
              placeholder="event_type"
              data={[...known]}
              value={row.field}
              onChange={(field) => put(i, { field })}
              limit={40}
              error={Boolean(faultAt(errors, `${path}[${i}]`))}
            />
            <Select
              aria-label={`Operator of ${nameOf(i)}`}
              data={FILTER_OPS}
              value={row.op}
              onChange={(op) => put(i, operatorChange(row, (op ?? 'eq') as FilterOp))}
              allowDeselect={false}
            />
            <Value row={row} name={`Value of ${nameOf(i)}`} put={(change) => put(i, change)} />
            <ActionIcon
              variant="subtle"
              color="gray"
              mt={4}
              aria-label={`Remove ${nameOf(i)}`}
              onClick={() => onChange(rows.filter((_row, at) => at !== i))}
            >
              <Trash2 size={15} aria-hidden />
            </ActionIcon>
          </div>
          {faultAt(errors, `${path}[${i}]`) && (
            <Text size="xs" c="var(--mantine-color-error)" role="alert">
              {faultAt(errors, `${path}[${i}]`)}
            </Text>
          )}
        </Stack>
      ))}
      <Group>
        <Button
          size="xs"
          variant="default"
          leftSection={<Plus size={14} aria-hidden />}
          onClick={() => onChange([...rows, { ...EMPTY_FILTER }])}
        >
          Add a filter{of && ` ${of}`}
        </Button>
      </Group>
    </Stack>
  )
}

function Value({
  row,
  name,
  put,
}: {
  row: FilterRow
  name: string
  put: (change: Partial<FilterRow>) => void
}) {
  if (row.op === 'exists' || row.op === 'missing') return <span />
  if (row.op === 'in')
    return (
      <TagsInput
        aria-label={name}
        placeholder={row.values.length ? '' : 'Enter after each'}
        value={row.values}
        onChange={(values) => put({ values })}
        acceptValueOnBlur
      />
    )
  return (
    <TextInput
      aria-label={name}
      value={row.value}
      onChange={(event) => put({ value: event.currentTarget.value })}
    />
  )
}

/** A value and a list become each other, so that changing the operator loses nothing. */
function operatorChange(row: FilterRow, op: FilterOp): Partial<FilterRow> {
  if (op === 'in' && row.op !== 'in') return { op, values: row.value ? [row.value] : row.values }
  if (op !== 'in' && row.op === 'in') return { op, value: row.values[0] ?? row.value }
  return { op }
}
