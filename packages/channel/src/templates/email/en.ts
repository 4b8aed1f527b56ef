import type { Locale } from "../locale.ts";

export const en: Locale = {
  tag: "en",
  dir: "ltr",
  greeting: "Hello {{ name }},",
  greetingWithoutName: "Hello,",
  labels: { parcel: "Parcel", merchant: "Sender", when: "Time" },
  footer: "You get this email because you follow parcel {{ parcel }}.",
  messages: {
    picked_up: {
      subject: "Parcel {{ parcel }} is on its way",
      buyer:
        "{{ merchant }} has handed your parcel to the carrier. We will write again when it is out for delivery.",
      staff: "The carrier has picked up the parcel.",
    },
    customs_hold: {
      subject: "Parcel {{ parcel }} is held at customs",
      buyer:
        "Customs is checking your parcel from {{ merchant }}. You need not do anything now. We will write as soon as it moves on.",
      staff: "The parcel is held at customs. Check that its customs papers are complete.",
    },
    "customs_hold.still": {
      subject: "Parcel {{ parcel }} is still held at customs",
      buyer:
        "Your parcel from {{ merchant }} has been at customs for more than 24 hours. We are sorry for the wait, and will write as soon as it is released.",
      staff: "The parcel is still held at customs after 24 hours. Ask the customs broker what is missing.",
    },
    customs_released: {
      subject: "Parcel {{ parcel }} has cleared customs",
      buyer: "Good news: customs has released your parcel from {{ merchant }}. It is on its way again.",
      staff: "Customs has released the parcel.",
    },
    out_for_delivery: {
      subject: "Parcel {{ parcel }} arrives today",
      buyer: "Your parcel from {{ merchant }} is in the delivery van and should reach you today.",
      staff: "The parcel is out for delivery.",
    },
    delivery_exception: {
      subject: "Parcel {{ parcel }} could not be delivered",
      buyer:
        "The carrier could not deliver your parcel from {{ merchant }}, and will usually try again on the next working day.",
      staff: "The delivery failed. Check the address and telephone number with the recipient.",
    },
    delivered: {
      subject: "Parcel {{ parcel }} has been delivered",
      buyer: "Your parcel from {{ merchant }} has been delivered. Enjoy it!",
      staff: "The parcel has been delivered.",
    },
    returned: {
      subject: "Parcel {{ parcel }} is going back to the sender",
      buyer:
        "Your parcel could not be delivered and is on its way back to {{ merchant }}. Please contact them about a new delivery or a refund.",
      staff: "The parcel is being returned. Expect it at the return address.",
    },
  },
};
