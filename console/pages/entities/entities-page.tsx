/** Joined entities: the names that one thing has in several systems. */
import { Group, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { declared, dkeys } from '../../declared-client.ts'
import { AddLink, LongList } from '../../parts/long-list.tsx'
import { PageHead } from '../../parts/page.tsx'
import { Cell, Row, RowLink, Rows } from '../../parts/rows.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { LIST_FRESH_MS } from '../../parts/use-pages.ts'
import { When } from '../../parts/when.tsx'
import { CoverageLine } from './coverage.tsx'

export default function EntitiesPage() {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: dkeys.entities,
    queryFn: declared.entities,
    refetchInterval: LIST_FRESH_MS,
  })
  return (
    <>
      <PageHead title="Entities">
        <AddLink to="/entities/new">Join names</AddLink>
      </PageHead>
      {isPending && <LoadingRows />}
      {error && <Failed what="entities" error={error} onRetry={() => void refetch()} />}
      {data &&
        (data.length === 0 ? (
          <Empty title="No joined names yet">
            <Text c="dimmed" maw={560}>
              One thing often has several names: a service in traces, a repository, a host. Join them, and a
              read of one shows what happened under all. Nothing stored changes, and removing the join takes
              it back.
            </Text>
          </Empty>
        ) : (
          <>
            <CoverageLine />
            <LongList
              all={data}
              many="entities"
              by="name, kind or owner"
              words={({ name, kind, is, owned_by = [] }) => [name, kind, ...is, ...owned_by].join(' ')}
            >
              {(shown) => (
                <Rows
                  label="Joined entities"
                  columns={[
                    { name: 'Name', isHead: true },
                    'Kind',
                    'Names',
                    { name: 'Owned by', isText: true },
                    'Changed',
                  ]}
                >
                  {shown.map(({ name, kind, is, owned_by = [], updated_at }) => (
                    <Row key={name}>
                      <Cell>
                        <RowLink to={`/entities/${encodeURIComponent(name)}`}>{name}</RowLink>
                      </Cell>
                      <Cell>{kind ?? ''}</Cell>
                      <Cell>
                        <Group gap={6}>
                          {is.map((one) => (
                            <span key={one} className="chip mono">
                              {one}
                            </span>
                          ))}
                        </Group>
                      </Cell>
                      <Cell>{owned_by.join(', ')}</Cell>
                      <Cell>
                        <When at={updated_at} />
                      </Cell>
                    </Row>
                  ))}
                </Rows>
              )}
            </LongList>
          </>
        ))}
    </>
  )
}
