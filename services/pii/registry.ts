// Lists all recognizers: a new entity or country needs a file in recognizers/ and a row here.
import type { Recognizer } from './recognizer.ts';
import { apiKey } from './recognizers/api-key.ts';
import { accountNumber, bic, routingNumber, sortCode } from './recognizers/bank-account.ts';
import {
  assignedSecret,
  authorizationHeader,
  connectionString,
  jsonWebToken,
  looseToken,
  namedToken,
} from './recognizers/credential.ts';
import { cryptoWallet } from './recognizers/crypto-wallet.ts';
import { email, spelledEmail } from './recognizers/email.ts';
import { iban } from './recognizers/iban.ts';
import { paymentCard } from './recognizers/payment-card.ts';
import {
  actingPerson,
  initialledPerson,
  introducedPerson,
  listedPeople,
  namedByList,
  personCell,
  signatureLine,
  titledPerson,
} from './recognizers/person.ts';
import { phone, phoneLink } from './recognizers/phone.ts';
import { describedPlace, introducedPlace, listedPlace, placeCell, postcode } from './recognizers/place.ts';
import { privateKey } from './recognizers/private-key.ts';
import { streetAddress } from './recognizers/street-address.ts';

export const RECOGNIZERS: readonly Recognizer[] = [
  email,
  spelledEmail,
  phone,
  phoneLink,
  paymentCard,
  iban,
  routingNumber,
  accountNumber,
  sortCode,
  bic,
  cryptoWallet,
  apiKey,
  privateKey,
  jsonWebToken,
  authorizationHeader,
  connectionString,
  assignedSecret,
  namedToken,
  looseToken,
  streetAddress,
  postcode,
  introducedPlace,
  describedPlace,
  placeCell,
  listedPlace,
  titledPerson,
  introducedPerson,
  actingPerson,
  initialledPerson,
  listedPeople,
  personCell,
  namedByList,
  signatureLine,
];
