/** Files of the commit with their state, the parts that differ, and what no file names. */
import { Badge, Button, List, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import type { CatalogSync, CatalogSyncFile } from '../../../schemas/types.ts'
import { KIND_WORDS } from '../../lib/fields.ts'
import { Fold } from '../../parts/fold.tsx'
import { Cell, Row, Rows } from '../../parts/rows.tsx'
import { Section } from '../../parts/section.tsx'
import { FilePlace } from './sync-places.tsx'

const SHOWN = 50
/** So many parts that are in no file are listed by name; the rest are counted. */
const UNMANAGED_SHOWN = 50

const FILES = {
  synced: { word: 'synced', color: 'teal' },
  out_of_sync: { word: 'out of sync', color: 'yellow' },
  failed: { word: 'failed', color: 'red' },
  unknown: { word: 'not compared', color: 'gray' },
} as const

/** Words beside a part, by its state, where an edit by hand was kept. */
const KEPT: Readonly<Record<string, string>> = {
  drifted: ', changed by hand and kept',
  adopted: ', changed by hand and adopted',
}

/** Those that need a look first. */
const ORDER: readonly CatalogSyncFile['state'][] = ['failed', 'out_of_sync', 'unknown', 'synced']

export function SyncFiles({ sync }: { sync: CatalogSync }) {
  const { files, parts, unmanaged, counts, repository, planned } = sync
  const [all, setAll] = useState(false)
  const ordered = files.toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state))
  const shown = all ? ordered : ordered.slice(0, SHOWN)
  return (
    <>
      {files.length > 0 && (
        <Section title="Files">
          <Rows
            label="Files of the commit"
            columns={[{ name: 'File', isHead: true }, 'State', { name: 'Parts', isNumber: true }, 'Differs']}
          >
            {shown.map((file) => (
              <Row key={file.file}>
                <Cell isMono>{file.file}</Cell>
                <Cell>
                  <Badge
                    color={FILES[file.state].color}
                    c="var(--mantine-color-text)"
                    variant="light"
                    tt="none"
                  >
                    {FILES[file.state].word}
                  </Badge>
                </Cell>
                <Cell>{file.state === 'failed' || file.state === 'unknown' ? '' : file.parts}</Cell>
                <Cell>
                  {parts
                    .filter((part) => part.file === file.file)
                    .slice(0, 10)
                    .map(({ kind, name, line, state }) => (
                      <div key={`${kind}:${name}`}>
                        {KIND_WORDS[kind]?.one} {name},{' '}
                        <FilePlace
                          links={repository?.links ?? null}
                          commit={planned?.id}
                          file={file.file}
                          line={line}
                        />
                        {KEPT[state] ?? ''}
                      </div>
                    ))}
                </Cell>
              </Row>
            ))}
          </Rows>
          {ordered.length > shown.length && (
            <Button size="compact-sm" variant="default" mt="xs" onClick={() => setAll(true)}>
              Show all {ordered.length} files
            </Button>
          )}
        </Section>
      )}
      {unmanaged.length > 0 && (
        <Fold title="In no file" hint={String(counts.unmanaged)}>
          <Stack gap={4}>
            <List size="sm">
              {unmanaged.slice(0, UNMANAGED_SHOWN).map(({ kind, name }) => (
                <List.Item key={`${kind}:${name}`} style={{ overflowWrap: 'anywhere' }}>
                  {KIND_WORDS[kind]?.one} {name}
                </List.Item>
              ))}
            </List>
            {counts.unmanaged > UNMANAGED_SHOWN && (
              <Text size="sm" c="dimmed">
                {counts.unmanaged - UNMANAGED_SHOWN} more; they are under Drift
              </Text>
            )}
          </Stack>
        </Fold>
      )}
    </>
  )
}
