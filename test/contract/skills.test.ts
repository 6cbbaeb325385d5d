import { describe, expect, it } from 'vitest'
import { type Fields, type Instance, startBeforeEach, startInstance } from './instance.ts'

const KB64 = 65_536
const RULES = {
  name: 'name must be 1 to 64 characters of lowercase letters, digits and dashes',
  paragraph: 'description must be one paragraph: it has a blank line',
  frontMatter:
    'the front matter is missing: the file must begin with a line of three dashes, then name: and description:, then a second line of three dashes',
}

let svc: Instance
let shop: string
let other: string
const skill = (more: Fields = {}) => ({ name: 'roll-back', description: 'How to.', body: '# Look', ...more })
const file = (front: string, body = '# Look') => `---\n${front}\n---\n\n${body}\n`
const of = (project: string, rest = '') => `/api/projects/${project}/skills${rest}`

startBeforeEach(async () => {
  svc = await startInstance()
  const make = async (name: string) =>
    (await svc.post<{ id: string }>('/api/projects', { template: 'custom', name })).id
  shop = await make('Shop')
  other = await make('Other')
  return svc
})

describe('the endpoints of skills', () => {
  it('make one, list it in its project and on the instance, and read it', async () => {
    const made = await svc.call('POST', of(shop), skill())
    expect([made.status, made.body]).toEqual([
      201,
      { ...skill(), updated_at: '2026-11-20T12:00:00.000Z', version: expect.any(Number) },
    ])
    expect(await svc.get<Fields[]>('/api/skills')).toEqual([
      expect.objectContaining({
        name: 'roll-back',
        description: 'How to.',
        used_by: [{ id: shop, name: 'Shop' }],
      }),
    ])
    expect((await svc.get<Fields[]>('/api/skills'))[0]).not.toHaveProperty('body')
    expect(await svc.get(of(shop))).toEqual([
      {
        name: 'roll-back',
        description: 'How to.',
        updated_at: '2026-11-20T12:00:00.000Z',
        size: 6,
        loaded_by: [],
      },
    ])
    expect(await svc.get(of(shop, '/roll-back'))).toMatchObject(skill())
    expect(await svc.get(of(other))).toEqual([])
  })

  it('take an id of a project or its name', async () => {
    await svc.post(of('Shop'), skill())
    expect(await svc.get<Fields[]>(of(shop))).toHaveLength(1)
  })

  it.each([
    ['a project that is not there', 'GET', 'Nope', '', 'no project has the id or name Nope'],
    [
      'a skill the project does not use',
      'GET',
      'Other',
      '/roll-back',
      'project Other uses no skill named roll-back',
    ],
    [
      'a change of one it does not use',
      'PUT',
      'Other',
      '/roll-back',
      'project Other uses no skill named roll-back',
    ],
    [
      'leaving one it does not use',
      'DELETE',
      'Other',
      '/roll-back',
      'project Other uses no skill named roll-back',
    ],
    ['using one that is not there', 'POST', 'Other', '/gone/use', 'no skill is named gone'],
  ])('answer 404 for %s', async (_case, method, project, rest, message) => {
    await svc.post(of(shop), skill())
    expect(await svc.refused(method, of(project, rest), method === 'PUT' ? {} : undefined)).toEqual([
      404,
      message,
    ])
  })

  it('download a file that uploads as the same skill', async () => {
    const given = skill({
      description: 'With: a colon, "quotes" and — dashes',
      body: '# Look\n\n---\n\ntwice',
    })
    await svc.post(of(shop), given)
    const { text, headers } = await svc.call('GET', of(shop, '/roll-back/download'))
    expect(headers.get('content-type')).toBe('text/markdown; charset=utf-8')
    expect(headers.get('content-disposition')).toBe('attachment; filename="SKILL.md"')
    await svc.del(of(shop, '/roll-back'))
    expect(await svc.upload(of(shop, '/upload'), text)).toMatchObject({ ...given, created: true })
  })
})

describe('the lifecycle of a skill', () => {
  it('absent: a create whose name is on the instance answers 409 and changes nothing', async () => {
    await svc.post(of(shop), skill())
    const [status, detail] = await svc.refused('POST', of(other), skill({ body: 'mine' }))
    expect([status, detail]).toEqual([
      409,
      'a skill named roll-back is on the instance; use it in this project instead',
    ])
    expect(await svc.get(of(shop, '/roll-back'))).toMatchObject(skill())
    expect(await svc.get(of(other))).toEqual([])
  })

  it('absent: an upload makes it, used by the calling project, with created true', async () => {
    expect(await svc.upload(of(shop, '/upload'), file('name: fresh\ndescription: d'))).toMatchObject({
      name: 'fresh',
      body: '# Look',
      created: true,
    })
    expect(await svc.get<Fields[]>(of(shop))).toHaveLength(1)
  })

  it('exists: use from another project makes it used by one more, and twice is once', async () => {
    await svc.post(of(shop), skill())
    await svc.post(of(other, '/roll-back/use'))
    expect(await svc.post(of(other, '/roll-back/use'))).toMatchObject(skill())
    expect(await usersOf('roll-back')).toEqual(['Other', 'Shop'])
  })

  it('exists: an edit replaces the content for every project, and an omitted field keeps its value', async () => {
    await svc.post(of(shop), skill())
    await svc.post(of(other, '/roll-back/use'))
    await svc.put(of(other, '/roll-back'), { body: 'Twice.' })
    expect(await svc.get(of(shop, '/roll-back'))).toMatchObject(skill({ body: 'Twice.' }))
    await svc.put(of(shop, '/roll-back'), { description: 'Why.' })
    expect(await svc.get(of(other, '/roll-back'))).toMatchObject({ description: 'Why.', body: 'Twice.' })
  })

  it('exists: the name stays on edit, and may be sent with it', async () => {
    await svc.post(of(shop), skill())
    expect(await svc.refused('PUT', of(shop, '/roll-back'), { name: 'other' })).toEqual([
      400,
      'name must equal the name in the path; rename the skill by POST /api/skills/{name}/rename, or svc skills rename',
    ])
    expect(await svc.put(of(shop, '/roll-back'), skill({ body: 'Twice.' }))).toMatchObject({ body: 'Twice.' })
  })

  it('exists: an upload with the same name replaces it for every project, with created false', async () => {
    await svc.post(of(shop), skill())
    const uploaded = await svc.upload(of(other, '/upload'), file('name: roll-back\ndescription: New.', 'New'))
    expect(uploaded).toMatchObject({ created: false, body: 'New' })
    expect(await svc.get(of(shop, '/roll-back'))).toMatchObject({ description: 'New.', body: 'New' })
    expect(await usersOf('roll-back')).toEqual(['Other', 'Shop'])
  })

  it('used: a delete from one of two projects keeps it and lists whom it was kept for', async () => {
    await svc.post(of(shop), skill())
    await svc.post(of(other, '/roll-back/use'))
    expect(await svc.del(of(shop, '/roll-back'))).toEqual({
      ok: true,
      removed: 'roll-back',
      deleted: null,
      kept_for: [other],
    })
    expect(await usersOf('roll-back')).toEqual(['Other'])
  })

  it('used: a delete from its last project deletes it, and the name is free', async () => {
    await svc.post(of(shop), skill())
    expect(await svc.del(of(shop, '/roll-back'))).toEqual({
      ok: true,
      removed: 'roll-back',
      deleted: 'roll-back',
      kept_for: [],
    })
    expect(await svc.get('/api/skills')).toEqual([])
    expect((await svc.call('POST', of(other), skill())).status).toBe(201)
  })

  it('used: it goes with its last project, and one that another uses stays', async () => {
    await svc.post(of(shop), skill())
    await svc.post(of(shop), skill({ name: 'shared' }))
    await svc.post(of(other, '/shared/use'))
    expect(await svc.del(`/api/projects/${shop}`)).toMatchObject({ deleted: ['skill:roll-back'] })
    expect((await svc.get<Fields[]>('/api/skills')).map(({ name }) => name)).toEqual(['shared'])
    expect(await usersOf('shared')).toEqual(['Other'])
  })

  it('deleted: undoing the delete brings it back to the projects that used it', async () => {
    await svc.post(of(shop), skill())
    await svc.del(`/api/projects/${shop}`)
    const { version } = await svc.get<{ version: number }>('/api/change-sets')
    await svc.post(`/api/change-sets/${version}/undo`, {})
    expect(await svc.get(of(shop, '/roll-back'))).toMatchObject(skill())
  })

  const usersOf = async (name: string) =>
    (await svc.get<{ name: string; used_by: { name: string }[] }[]>('/api/skills'))
      .find((one) => one.name === name)!
      .used_by.map((user) => user.name)
      .sort()
})

describe('the rules of a skill, in the characters and bytes of the specification', () => {
  it.each<[string, Fields, string]>([
    ['no name', { name: undefined }, 'a name is required'],
    ['a capital', { name: 'Roll' }, RULES.name],
    ['65 characters', { name: 'a'.repeat(65) }, RULES.name],
    ['a name that is no text', { name: 7 }, 'name must be text'],
    ['a space in the name', { name: 'roll back' }, RULES.name],
    ['no description', { description: undefined }, 'a description is required'],
    ['a description of spaces', { description: '  ' }, 'a description is required'],
    ['a blank line', { description: 'a\n\nb' }, RULES.paragraph],
    ['a blank line of spaces', { description: 'a\r\n \r\nb' }, RULES.paragraph],
    [
      '1,025 characters',
      { description: 'é'.repeat(1_025) },
      'description has 1025 characters; at most 1024 are allowed',
    ],
    ['no body', { body: undefined }, 'a body is required: what is to be done, as Markdown'],
    ['an empty body', { body: ' \n' }, 'a body is required: what is to be done, as Markdown'],
    ['64 KB and a byte', { body: 'a'.repeat(KB64 + 1) }, 'body has 65537 bytes; at most 65536 are allowed'],
    [
      '64 KB counted in bytes',
      { body: 'é'.repeat(KB64 / 2 + 1) },
      'body has 65538 bytes; at most 65536 are allowed',
    ],
  ])('refuse a create with %s', async (_case, more, message) => {
    const [status, detail] = await svc.refused('POST', of(shop), skill(more))
    expect([status, detail]).toEqual([400, message])
    expect(await svc.get('/api/skills')).toEqual([])
  })

  it.each<[string, Fields]>([
    ['a name of 1 character', { name: 'a' }],
    ['a name of 64 characters', { name: `${'a'.repeat(60)}-0-9` }],
    ['a description of 1,024 characters beyond ASCII', { description: '𝄞'.repeat(1_024) }],
    ['a description of two lines', { description: 'one\ntwo' }],
    ['a body of 64 KB', { body: 'é'.repeat(KB64 / 2) }],
  ])('allow %s', async (_case, more) => {
    expect(await svc.post(of(shop), skill(more))).toMatchObject(skill(more))
  })

  it.each([
    ['no front matter', '# Look', RULES.frontMatter],
    ['nothing', '', RULES.frontMatter],
    [
      'front matter that is not closed',
      '---\nname: a\ndescription: b\n',
      'the front matter is not closed: it must end with a second line of three dashes',
    ],
    [
      'no name',
      file('description: b'),
      'the front matter has no name; name must be 1 to 64 characters of lowercase letters, digits and dashes',
    ],
    [
      'no description',
      file('name: a'),
      'the front matter has no description; description must be one paragraph of 1 to 1024 characters',
    ],
    ['a capital in the name', file('name: A\ndescription: b'), RULES.name],
    ['a blank line in the description', file('name: a\ndescription: "x\\n\\ny"'), RULES.paragraph],
    [
      'no body',
      file('name: a\ndescription: b', ''),
      'a body is required: the Markdown below the front matter',
    ],
    ['YAML that cannot be read', file('name: [a\ndescription: b'), 'the front matter is not valid YAML'],
    [
      'a text with a colon, which YAML takes for a field',
      file('name: a\ndescription: Use: x'),
      'the front matter is not valid YAML, line 3; put the description in quotes, as it has a colon followed by a space',
    ],
    [
      'a list as front matter',
      file('- a'),
      'the front matter must be fields, such as name: and description:',
    ],
  ])('refuse a file with %s', async (_case, text, message) => {
    const [status, detail] = await svc.refused('POST', of(shop, '/upload'), text, {
      'content-type': 'text/markdown',
    })
    expect([status, detail.replace(/, line \d+$/, '')]).toEqual([400, message])
  })

  it.each([
    ['a mapping in a scalar', 'name: a\n  description: b'],
    ['a list that is not closed', 'name: a\ndescription: [b'],
    ['a mark that begins nothing', 'name: a\ndescription: @b\nother: c'],
  ])('name the line of the file where YAML cannot be read: %s', async (_case, front) => {
    const markdown = { 'content-type': 'text/markdown' }
    expect(await svc.refused('POST', of(shop, '/upload'), file(front), markdown)).toEqual([
      400,
      'the front matter is not valid YAML, line 3',
    ])
  })

  it.each([
    ['404', 'name: 404\ndescription: 503', { name: '404', description: '503' }],
    ['007', 'name: 007\ndescription: 1e3', { name: '007', description: '1e3' }],
    ['2026-01-01', 'name: 2026-01-01\ndescription: true', { name: '2026-01-01', description: 'true' }],
  ])('take a name and a description of digits as they are written: %s', async (_case, front, made) => {
    const markdown = { 'content-type': 'text/markdown' }
    expect(await svc.ok('POST', of(shop, '/upload'), file(front), markdown)).toMatchObject(made)
    const { text } = await svc.call('GET', of(shop, `/${made.name}/download`))
    expect(await svc.ok('POST', of(shop, '/upload'), text, markdown)).toMatchObject(made)
  })

  it.each([
    ['two lists, as commands of coding agents have', 'argument-hint: [file] [format]'],
    ['a colon', 'note: a: b'],
    ['a mark that begins nothing', 'author: @me'],
    ['a quote that is not closed, over lines', 'say: "a\n  b\n- c'],
    ['a key that is there twice', 'tag: a\ntag: b'],
    ['a mark of another key', 'allowed-tools: *'],
  ])('ignore other keys of a file, also where their value is no YAML: %s', async (_case, other) => {
    const front = `${other}\nname: a\n${other.replaceAll(/^(?=\w)/gm, 'x-')}\ndescription: >-\n  one\n  two`
    const made = { name: 'a', description: 'one two', body: '# Look', created: true }
    expect(await svc.upload(of(shop, '/upload'), file(front))).toMatchObject(made)
  })

  it('name the line of what cannot be read below a key that is ignored', async () => {
    const front = 'hint: [a] [b]\n  more\nname: a\ndescription: Use: x'
    expect(
      await svc.refused('POST', of(shop, '/upload'), file(front), { 'content-type': 'text/markdown' }),
    ).toEqual([
      400,
      'the front matter is not valid YAML, line 5; put the description in quotes, as it has a colon followed by a space',
    ])
  })

  it('take lines of dashes with spaces after them, as none of the body', async () => {
    const text = file('name: a\ndescription: b').replaceAll('---\n', '---  \n')
    expect(await svc.upload(of(shop, '/upload'), text)).toMatchObject({ description: 'b', body: '# Look' })
  })

  it('refuse a file that is not UTF-8, and take one with a byte order mark and CRLF', async () => {
    const latin1 = Buffer.from(file('name: a\ndescription: caf\u00e9'), 'latin1')
    const markdown = { 'content-type': 'text/markdown' }
    expect(await svc.refused('POST', of(shop, '/upload'), latin1, markdown)).toEqual([
      400,
      'the file is not UTF-8 text',
    ])
    const text = `\ufeff${file('name: a\ndescription: b\nother: ignored')}`.replaceAll('\n', '\r\n')
    expect(await svc.upload(of(shop, '/upload'), text)).toMatchObject({ name: 'a', body: '# Look' })
  })

  it.each<[string, Fields, string]>([
    ['an empty description', { description: '' }, 'a description is required'],
    ['an empty body', { body: '' }, 'a body is required: what is to be done, as Markdown'],
    ['a body that is no text', { body: 5 }, 'body must be text'],
    ['a null', { body: null }, 'body must be text'],
  ])('refuse an edit with %s and keep what is there', async (_case, change, message) => {
    await svc.post(of(shop), skill())
    const [status, detail] = await svc.refused('PUT', of(shop, '/roll-back'), change)
    expect([status, detail]).toEqual([400, message])
    expect(await svc.get(of(shop, '/roll-back'))).toMatchObject(skill())
  })
})
