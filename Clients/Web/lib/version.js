/** This SDK, as its reports to the server name it. */
export const sdk = 'web/0.2.0-alpha.1';
