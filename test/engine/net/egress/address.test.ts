import { describe, expect, it } from 'vitest'
import { classify } from '../../../../engine/net/address.ts'

describe('an address', () => {
  it.each([
    ['93.184.216.34', 'public'],
    ['172.15.255.255', 'public'],
    ['172.16.0.0', 'private'],
    ['172.31.255.255', 'private'],
    ['172.32.0.0', 'public'],
    ['10.1.2.3', 'private'],
    ['192.168.0.1', 'private'],
    ['100.63.255.255', 'public'],
    ['100.64.0.1', 'private'],
    ['100.127.255.255', 'private'],
    ['100.128.0.0', 'public'],
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['169.254.169.254', 'metadata'],
    ['100.100.100.200', 'metadata'],
    ['168.63.129.16', 'metadata'],
    ['0.0.0.0', 'unspecified'],
    ['0.1.2.3', 'unspecified'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['255.255.255.255', 'reserved'],
    ['240.0.0.1', 'reserved'],
    ['198.18.0.1', 'benchmarking'],
    ['198.19.255.255', 'benchmarking'],
    ['192.0.2.1', 'reserved'],
    ['198.51.100.1', 'reserved'],
    ['203.0.113.1', 'reserved'],
    ['192.0.0.192', 'reserved'],
    ['192.88.99.1', 'reserved'],
    ['0.255.255.255', 'unspecified'],
    ['1.0.0.0', 'public'],
    ['169.253.255.255', 'public'],
    ['169.254.169.253', 'metadata'],
    ['169.255.0.0', 'public'],
    ['168.63.129.15', 'public'],
    ['126.255.255.255', 'public'],
    ['128.0.0.0', 'public'],
    ['223.255.255.255', 'public'],
  ])('%s is %s', (address, kind) => {
    expect(classify(address)).toBe(kind)
  })

  it.each([
    ['2606:2800:220:1:248:1893:25c8:1946', 'public'],
    ['2a00:1450:4001:81b::200e', 'public'],
    ['::', 'unspecified'],
    ['::1', 'loopback'],
    ['fc00::1', 'private'],
    ['fdff:ffff::1', 'private'],
    ['fd00:ec2::254', 'metadata'],
    ['fd20:ce::254', 'metadata'],
    ['fe80::1', 'metadata'],
    ['fe80::1%eth0', 'metadata'],
    ['febf::1', 'metadata'],
    ['fec0::1', 'reserved'],
    ['ff02::1', 'multicast'],
    ['2001:db8::1', 'reserved'],
    ['3fff::1', 'reserved'],
    ['2001:2::1', 'benchmarking'],
    ['2001:20::1', 'reserved'],
    ['5f00::1', 'reserved'],
    ['100::1', 'reserved'],
    ['64:ff9b:1::1', 'reserved'],
    ['64:ff9b:1:7f00:1::', 'reserved'],
    ['::1%1', 'loopback'],
    ['fe80::1%eth0.5', 'metadata'],
    ['fc00::1%eth0', 'private'],
    ['4000::1', 'reserved'],
    ['FD00:EC2:0:0:0:0:0:254', 'metadata'],
  ])('%s is %s', (address, kind) => {
    expect(classify(address)).toBe(kind)
  })

  it.each([
    ['mapped', '::ffff:7f00:1', 'loopback'],
    ['mapped, dotted', '::ffff:127.0.0.1', 'loopback'],
    ['mapped and public', '::ffff:93.184.216.34', 'public'],
    ['compatible', '::7f00:1', 'reserved'],
    ['translated', '::ffff:0:7f00:1', 'loopback'],
    ['NAT64', '64:ff9b::7f00:1', 'loopback'],
    ['NAT64 and public', '64:ff9b::5db8:d822', 'public'],
    ['NAT64 of metadata', '64:ff9b::a9fe:a9fe', 'metadata'],
    ['6to4', '2002:7f00:1::', 'loopback'],
    ['6to4 of private', '2002:a01:203::1', 'private'],
    ['6to4 and public', '2002:5db8:d822::1', 'public'],
    ['mapped, of metadata', '::ffff:168.63.129.16', 'metadata'],
    ['mapped, with a zone', '::ffff:127.0.0.1%eth0', 'loopback'],
    ['mapped, of this network', '::ffff:0.1.2.3', 'unspecified'],
    ['mapped, of a carrier', '::ffff:100.64.0.1', 'private'],
    ['translated, of metadata', '::ffff:0:a9fe:a9fe', 'metadata'],
    ['NAT64, dotted', '64:ff9b::10.0.0.1', 'private'],
    ['6to4 of metadata', '2002:a9fe:a9fe::1', 'metadata'],
    ['6to4 of this network', '2002:0:1::', 'unspecified'],
    ['Teredo and public', '2001:0:5db8:d822:8000:63bf:a247:27dd', 'public'],
    ['Teredo with a metadata client', '2001:0:5db8:d822:8000:63bf:5601:5601', 'metadata'],
    ['Teredo with a loopback client', '2001:0:4136:e378:8000:63bf:80ff:fffe', 'loopback'],
    ['Teredo with a private server', '2001:0:a00:1:8000:63bf:a247:27dd', 'private'],
  ])('that is %s counts as what it carries: %s is %s', (_form, address, kind) => {
    expect(classify(address)).toBe(kind)
  })

  it.each([
    '',
    'localhost',
    '127.1',
    '1.2.3',
    '1.2.3.4.5',
    '::g',
    '999.1.1.1',
    '0177.0.0.1',
    '0x7f.0.0.1',
    '2130706433',
    '%eth0',
  ])('that is none (%j) is reserved', (text) => {
    expect(classify(text)).toBe('reserved')
  })
})
