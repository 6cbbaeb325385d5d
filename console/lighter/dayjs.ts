/** In place of a package of dates, in the form kit, whose fields of dates are left out (console/build/lighter.ts). */
export default { extend: () => undefined }
