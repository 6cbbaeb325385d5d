/** Messages of the RFCs' own examples, and of devices that follow neither. */
import { describe, expect, it } from 'vitest'
import { parseMessage } from '../../../api/syslog/message.ts'

const parse = (text: string) => parseMessage(Buffer.from(text))

describe('RFC 5424, 6.5: the examples', () => {
  it('1: no structured data, a message with a byte order mark', () => {
    expect(
      parse(
        "<34>1 2003-10-11T22:14:15.003Z mymachine.example.com su - ID47 - \ufeff'su root' failed for lonvick on /dev/pts/8",
      ),
    ).toMatchObject({
      ...{ form: 'rfc5424', facility: 'auth', severity: 'crit', host: 'mymachine.example.com', app: 'su' },
      ...{ pid: null, msgid: 'ID47', time: '2003-10-11T22:14:15.003Z', data: {} },
      message: "'su root' failed for lonvick on /dev/pts/8",
    })
  })

  it('2: a zone and microseconds, without a message id', () => {
    expect(
      parse(
        "<165>1 2003-08-24T05:14:15.000003-07:00 192.0.2.1 myproc 8710 - - %% It's time to make the do-nuts.",
      ),
    ).toMatchObject({
      ...{
        facility: 'local4',
        severity: 'notice',
        host: '192.0.2.1',
        app: 'myproc',
        pid: '8710',
        msgid: null,
      },
      ...{ time: '2003-08-24T05:14:15.000003-07:00', message: "%% It's time to make the do-nuts." },
    })
  })

  it('3: structured data', () => {
    expect(
      parse(
        '<165>1 2003-10-11T22:14:15.003Z mymachine.example.com evntslog - ID47 [exampleSDID@32473 iut="3" eventSource="Application" eventID="1011"] \ufeffAn application event log entry...',
      ),
    ).toMatchObject({
      data: { 'exampleSDID@32473': { iut: '3', eventSource: 'Application', eventID: '1011' } },
      message: 'An application event log entry...',
    })
  })

  it('4: structured data alone', () => {
    expect(
      parse(
        '<165>1 2003-10-11T22:14:15.003Z mymachine.example.com evntslog - ID47 [exampleSDID@32473 iut="3" eventSource="Application" eventID="1011"][examplePriority@32473 class="high"]',
      ),
    ).toMatchObject({
      data: { 'exampleSDID@32473': { iut: '3' }, 'examplePriority@32473': { class: 'high' } },
      message: '',
    })
  })

  it('6.3: escapes in values, a name twice, and what is against the grammar stays in the message', () => {
    const head = '<14>1 - - app - - '
    expect(parse(`${head}[o ip="192.0.2.1" ip="192.0.2.129" t="a \\"b\\" \\] \\\\ \\n"] m`)).toMatchObject({
      data: { o: { ip: ['192.0.2.1', '192.0.2.129'], t: 'a "b" ] \\ \\n' } },
      ...{ message: 'm', host: null, time: null },
    })
    for (const wrong of ['[o ip=1] m', '[o ip="1" m', '[ o="1"] m', '[a b="1"]m', '[o'])
      expect(parse(head + wrong)).toMatchObject({ form: 'rfc5424', data: {}, message: wrong })
    expect(parse(`${head}-`)).toMatchObject({ data: {}, message: '' })
    expect(Object.keys(parse(`${head}[__proto__ x="1"]`).data)).toEqual(['__proto__'])
  })
})

describe('RFC 3164, 5.4: the examples', () => {
  it('1: host and tag', () => {
    expect(
      parse("<34>Oct 11 22:14:15 mymachine su: 'su root' failed for lonvick on /dev/pts/8"),
    ).toMatchObject({
      ...{ form: 'rfc3164', facility: 'auth', severity: 'crit', host: 'mymachine', app: 'su', pid: null },
      ...{ time: 'Oct 11 22:14:15', message: "'su root' failed for lonvick on /dev/pts/8" },
    })
  })

  it('2: a text alone, and the same as a relay sends it on', () => {
    expect(parse('Use the BFG!')).toMatchObject({
      ...{ form: 'unknown', raw: 'Use the BFG!', message: 'Use the BFG!', facility: null, severity: null },
    })
    expect(parse('<13>Feb  5 17:32:18 10.0.0.99 Use the BFG!')).toMatchObject({
      ...{ facility: 'user', severity: 'notice', time: 'Feb  5 17:32:18', host: '10.0.0.99', app: null },
      message: 'Use the BFG!',
    })
  })

  it('3: what stands in the place of the host is the host, as the RFC says of this one', () => {
    expect(
      parse("<165>Aug 24 05:34:00 CST 1987 mymachine myproc[10]: %% It's time to make the do-nuts.  %%"),
    ).toMatchObject({
      ...{ facility: 'local4', severity: 'notice', host: 'CST', app: null },
      message: "1987 mymachine myproc[10]: %% It's time to make the do-nuts.  %%",
    })
  })

  it('4: no time of its form: all of it is the message', () => {
    expect(
      parse("<0>1990 Oct 22 10:52:01 TZ-6 scapegoat.dmz.example.org 10.1.2.3 sched[0]: That's All Folks!"),
    ).toMatchObject({
      ...{ form: 'unknown', facility: 'kern', severity: 'emerg', time: null, host: null },
      message: "1990 Oct 22 10:52:01 TZ-6 scapegoat.dmz.example.org 10.1.2.3 sched[0]: That's All Folks!",
    })
  })
})

describe('senders that follow neither', () => {
  it('are read as far as they go', () => {
    expect(parse('<30>Oct  1 02:03:04 web-1 nginx[812]: started')).toMatchObject({ app: 'nginx', pid: '812' })
    expect(parse('<30>Oct  1 02:03:04 sshd[7]: no host')).toMatchObject({
      ...{ host: null, app: 'sshd', pid: '7', message: 'no host' },
    })
    expect(parse('<166>Oct 11 2025 22:14:15 fw-1 : %ASA-6-302013: Built')).toMatchObject({
      ...{ time: 'Oct 11 2025 22:14:15', host: 'fw-1' },
    })
    expect(parse('<13>2025-10-11T22:14:15.123456+02:00 web-1 app: relayed')).toMatchObject({
      ...{ form: 'rfc3164', time: '2025-10-11T22:14:15.123456+02:00', host: 'web-1', app: 'app' },
    })
    // A head of RFC 5424 with fields missing, such as the process id.
    expect(parse('<11>1 2025-10-11T22:14:15.003Z web-1 app: no such order')).toMatchObject({
      ...{ form: 'rfc3164', time: '2025-10-11T22:14:15.003Z', host: 'web-1', app: 'app', severity: 'err' },
      message: 'no such order',
    })
    for (const text of ['<192>1 - - - - - -', '<034>x', '<>x', '<1', ''])
      expect(parse(text)).toMatchObject({ form: 'unknown', severity: null, message: text })
  })

  /** In the forms of Cisco's guides: System Message Logging of IOS, Configuring Logging of ASA, NX-OS System Messages. */
  it.each([
    ['45: *Oct 11 22:14:15.123: %SYS-5-CONFIG_I: Configured', 'Oct 11 22:14:15.123', null, 'SYS-5-CONFIG_I'],
    [
      '1045: router1: Oct 11 22:14:15.123 CET: %LINK-3-UPDOWN: Configured',
      'Oct 11 22:14:15.123',
      'router1',
      'LINK-3-UPDOWN',
    ],
    [
      '.Oct 11 22:14:15 UTC: %SEC-6-IPACCESSLOGP: Configured',
      'Oct 11 22:14:15 UTC',
      null,
      'SEC-6-IPACCESSLOGP',
    ],
    ['Oct 11 2025 22:14:15 fw-1 : %ASA-6-302013: Configured', 'Oct 11 2025 22:14:15', 'fw-1', 'ASA-6-302013'],
    ['Oct 11 2025 22:14:15: %ASA-6-302013: Configured', 'Oct 11 2025 22:14:15', null, 'ASA-6-302013'],
    [
      'Oct  1 22:14:15 EST fw-1 : %FTD-session-6-302013: Configured',
      'Oct  1 22:14:15 EST',
      'fw-1',
      'FTD-session-6-302013',
    ],
  ])('of Cisco say their time, their name and what they are about: %s', (text, time, host, app) => {
    expect(parse(`<166>${text}`)).toMatchObject({
      ...{ form: 'rfc3164', severity: 'info', time, host, app: `%${app}`, message: 'Configured' },
    })
  })

  it('bytes that are no UTF-8 are Latin-1', () => {
    expect(parseMessage(Buffer.from('<13>Gr\xfc\xdfe', 'latin1')).message).toBe('Grüße')
    expect(parse('<13>Grüße').message).toBe('Grüße')
  })
})
